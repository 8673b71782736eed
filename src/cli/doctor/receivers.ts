import type { Config } from '../../config.ts'
import { asError, createOutbound, type Outbound, SECOND, systemClock } from '../../lib/index.ts'
import { VERSION } from '../../version.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const TIMEOUT_MS = 5 * SECOND

/**
 * Whether the hosts of CHAT_WEBHOOK_URL and HEARTBEAT_URL answer, by the way that messages take. Only their front page is asked
 * for: the addresses themselves would post a message, or count as a sign of life.
 */
export async function receiverFindings(config: Config): Promise<DoctorFinding[]> {
  const { chatWebhookUrl, heartbeatUrl, outboundAllow: allow } = config
  const outbound = createOutbound({ allow, userAgent: `Tagwarden/${VERSION}`, clock: systemClock })
  const findings = [
    receiverFinding(outbound, 'CHAT_WEBHOOK_URL', chatWebhookUrl, 'what goes wrong reaches no one there'),
    receiverFinding(outbound, 'HEARTBEAT_URL', heartbeatUrl, 'Tagwarden will be taken for dead'),
  ]
  return (await Promise.all(findings)).filter((finding) => finding !== null)
}

async function receiverFinding(
  outbound: Outbound,
  check: string,
  address: string | null,
  otherwise: string,
): Promise<DoctorFinding | null> {
  if (address === null) return null
  const { host, origin, username } = new URL(address)
  try {
    // A name and password in it are refused by the one way out; they are no part of the origin.
    const front = username === '' ? `${origin}/` : `${origin.replace('//', '//user@')}/`
    await outbound.request(front, { method: 'HEAD', limits: { totalMs: TIMEOUT_MS } })
    return { check, level: 'ok', text: `${host} answers` }
  } catch (thrown) {
    const text = `${asError(thrown).message}; put that right, or ${otherwise}`
    return { check, level: 'warning', text }
  }
}
