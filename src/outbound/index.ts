export { parseOutboundAllow } from './allow.ts'
export { decodeBody } from './body.ts'
export type { CertificateFacts } from './certificate.ts'
export type { NameFacts } from './connect.ts'
export { isOurs, OutboundError, type OutboundErrorKind, type OutboundPhase, UNREACHED } from './error.ts'
export { retryAfterMs } from './exchange.ts'
export type { OutboundLookup } from './lookup.ts'
export {
  createOutbound,
  type Outbound,
  type OutboundAnswer,
  type OutboundBytes,
  type OutboundRequest,
} from './outbound.ts'
export type { OutboundTimings } from './request-timer.ts'
export type { OutboundMethod } from './target.ts'
export { OutboundThread, type OutboundThreadOptions, type OwnedOutbound } from './thread.ts'
