import { Mutex, unlessAborted } from '../../lib/index.ts'
import type { Caller } from './access-tokens.ts'
import { askGoogle, type GoogleAnswer } from './ask.ts'
import { GoogleFailure, type JsonRecord } from './failure.ts'
import type { ServiceAccount } from './service-account.ts'

const SCOPE = 'https://www.googleapis.com/auth/analytics.readonly'
const API = 'Google Analytics Data'

/**
 * Runs a report of a GA4 property, one at a time per property in this process: Google answers only a few at once, and the
 * owner's dashboards share them.
 *
 * @param apiUrl from the settings, e.g. `https://analyticsdata.googleapis.com`
 * @param question the body of `properties.runReport`
 * @throws GoogleFailure
 */
export async function runReport(
  account: ServiceAccount,
  apiUrl: string,
  propertyId: string,
  question: JsonRecord,
  caller: Caller,
): Promise<GoogleAnswer> {
  // Without pretty-printing, an answer is a third as long.
  const url = `${apiUrl}/v1beta/properties/${encodeURIComponent(propertyId)}:runReport?prettyPrint=false`
  try {
    return await inTurn(account, propertyId, caller.signal, () =>
      askGoogle(account, { url, scope: SCOPE, api: API, body: question }, caller),
    )
  } catch (thrown) {
    if (thrown instanceof GoogleFailure) throw withRole(thrown, account, propertyId)
    if (!caller.signal.aborted) throw thrown
    throw new GoogleFailure('unreachable', `The ${API} API did not answer in time`)
  }
}

/** Google answers 403 both to “you may not see it” and to “it does not exist”. */
function withRole(failure: GoogleFailure, { email }: ServiceAccount, propertyId: string): GoogleFailure {
  const { reason, facts } = failure
  if (reason !== 'forbidden' && reason !== 'not_found') return failure
  const role = `add the account in Google Analytics under Admin, Property access management, with the role Viewer`
  const message = `${email} sees no property ${propertyId} (${facts.status}): check the number, or ${role}`
  return new GoogleFailure(reason, message, facts)
}

interface Line {
  mutex: Mutex
  waiting: number
}

const lines = new WeakMap<ServiceAccount, Map<string, Line>>()

async function inTurn<T>(
  account: ServiceAccount,
  propertyId: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const ofAccount = lines.get(account) ?? new Map<string, Line>()
  lines.set(account, ofAccount)
  const line = ofAccount.get(propertyId) ?? { mutex: new Mutex(), waiting: 0 }
  ofAccount.set(propertyId, line)
  line.waiting++
  const turn = line.mutex.run(async () => {
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      line.waiting--
      if (line.waiting === 0) ofAccount.delete(propertyId)
    }
  })
  return unlessAborted(signal, turn)
}
