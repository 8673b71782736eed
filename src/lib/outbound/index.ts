export { type OutboundAllow, parseOutboundAllow } from './allow.ts'
export { decodeBody } from './body.ts'
export type { CertificateFacts } from './certificate.ts'
export type { OutboundLookup } from './connect.ts'
export { OutboundError, type OutboundErrorKind, type OutboundPhase } from './error.ts'
export {
  createOutbound,
  type Outbound,
  type OutboundAnswer,
  type OutboundBytes,
  type OutboundOptions,
  type OutboundRequest,
} from './outbound.ts'
export type { OutboundMethod } from './redirect.ts'
export type { OutboundLimits, OutboundTimings } from './request-timer.ts'
export type { NameFacts } from './resolve.ts'
export { retryAfterMs } from './retry-after.ts'
export { OutboundThread, type OutboundThreadOptions } from './thread.ts'
