import { OutboundError, type OutboundErrorKind } from '../../lib/index.ts'
import { certificateDetails } from './certificate.ts'
import type { CheckFinding } from './check-finding.ts'

/** These say something about what was asked for, not about who was asked. */
const OURS: ReadonlySet<OutboundErrorKind> = new Set(['bad_url', 'bad_request', 'forbidden_address', 'interrupted'])

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the address'

/**
 * What it means that the target of a check came to no answer: it is down for those who need it, unless it could not even
 * be asked.
 *
 * @throws what was thrown, when it is no OutboundError
 */
export function targetFailure(check: string, url: string, thrown: unknown, timeoutMs: number): CheckFinding {
  const { kind, message } = asOutboundError(thrown)
  if (OURS.has(kind)) return { check, status: 'error', message: `${hostOf(url)} cannot be checked: ${message}` }
  // The signal of the run is the limit that strikes first, and all that it can say is that no one waits any more.
  if (kind === 'aborted') return { check, status: 'critical', message: timedOut(url, timeoutMs) }
  return { check, status: 'critical', message }
}

const timedOut = (url: string, timeoutMs: number): string => `${hostOf(url)} did not answer within ${timeoutMs} ms`

/**
 * What it means that a provider who knows about the target came to no answer: nothing about the target.
 *
 * @param who as in `the API of the hosting provider`
 * @throws what was thrown, when it is no OutboundError
 */
export function providerFailure(check: string, who: string, thrown: unknown, timeoutMs: number): CheckFinding {
  const { kind, message } = asOutboundError(thrown)
  const why = kind === 'aborted' ? `it did not answer within ${timeoutMs} ms` : message
  return { check, status: 'error', message: `${who} could not be asked: ${why}` }
}

/** For the details of a result: the kind of failure, the phase it struck in, the certificate that was not accepted. */
export function failureDetails(thrown: unknown) {
  const { kind, phase, certificate } = asOutboundError(thrown)
  return { kind, phase, certificate: certificateDetails(certificate) }
}

function asOutboundError(thrown: unknown): OutboundError {
  if (thrown instanceof OutboundError) return thrown
  throw thrown
}
