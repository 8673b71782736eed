import { SECOND } from '../../lib/index.ts'
import { asServersSeeIt, type DigestReader } from '../digest-readers.ts'
import type { DigestMessage } from '../message.ts'
import type { SendOrder, SendOutcome } from '../transport.ts'
import { composeEmail } from './compose.ts'
import { type Mailer, missedOf } from './mail.ts'

/** After this time the other addresses wait for the next attempt, ms: an attempt has 90 s, and a server may hold one e-mail for 60. */
const LAST_START_MS = 25 * SECOND

/** Sends a digest to each reader in an e-mail of its own, because the link to unsubscribe is that of one address. */
export async function sendDigest(
  mailer: Mailer,
  readers: readonly DigestReader[],
  { message, idempotencyKey, publicUrl, at }: SendOrder & { message: DigestMessage },
  signal: AbortSignal,
): Promise<SendOutcome> {
  const late = AbortSignal.timeout(LAST_START_MS)
  const left: string[] = []
  let failure: Exclude<SendOutcome, { kind: 'delivered' }> | undefined
  let refused = 0
  let isServerUp = true
  for (const { id, address, secret } of readers) {
    if (!isServerUp || late.aborted) {
      left.push(asServersSeeIt(address))
      continue
    }
    const unsubscribeUrl = `${publicUrl}/status/digests/${secret}`
    const content = composeEmail(message, { publicUrl, at, unsubscribeUrl })
    const outcome = await mailer.send(
      { ...content, to: [address], at, id: `${idempotencyKey}.${id}`, list: message.client.id, unsubscribeUrl },
      signal,
    )
    if (outcome.kind === 'delivered') continue
    if (outcome.kind === 'passing') {
      left.push(asServersSeeIt(address))
      isServerUp = outcome.ofAddress === true
    } else refused++
    // What will not be tried again says more.
    if (failure === undefined || outcome.kind !== 'passing') failure = outcome
  }
  if (readers.length === 0) return { kind: 'message_refused', error: 'all its readers have unsubscribed' }
  const missed = refused + left.length
  if (missed === 0) return { kind: 'delivered' }
  if (missed === readers.length && failure !== undefined) {
    return left.length > 0 ? { ...failure, kind: 'passing' } : failure
  }
  const said = failure === undefined ? '' : `, ${failure.error}`
  return {
    kind: 'delivered',
    note: `${missedOf(missed, readers.length, left.length)}${said}`,
    ...(left.length > 0 && { left }),
  }
}
