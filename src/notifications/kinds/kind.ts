import { isHttpUrl } from '../../http/index.ts'
import { invalidRequest } from '../../lib/index.ts'

/** What a person gives of a channel. */
export interface ChannelInput {
  address: string
  secret: string | null
  endpoint: string | null
}

/** A kind of channel that a client may have: all that is particular to it. One file here and one line in `kinds.ts`. */
export interface ChannelKind {
  /** For people: `PagerDuty`. */
  title: string
  /** What `address` is, in a few words. */
  addressIs: string
  /** Which of the others it takes, and whether warnings may wait on it: on what people read. */
  takes: readonly ('secret' | 'endpoint' | 'wait')[]
  /**
   * All of it as one text, see `destinationOf`.
   *
   * @throws AppError `invalid_request`
   */
  addressOf: (input: ChannelInput) => string
  /** What of it may be shown to those who see addresses. */
  shown: (address: string) => string
  /** The `endpoint` that was given; null: the usual one. Of kinds that take one. */
  endpointOf?: (address: string) => string | null
}

/** @throws AppError `invalid_request` naming the field */
export function requireUrl(field: string, text: string): string {
  if (!isHttpUrl(text)) throw invalidRequest(field, 'must be an address like https://hooks.example.com/services/…')
  return text
}

/** @throws AppError `invalid_request` */
export function requireKey(text: string): string {
  if (!/^[\w-]{8,200}$/.test(text)) throw invalidRequest('/address', 'must be a key of 8 to 200 letters and digits')
  return text
}

/** Enough to tell keys apart. */
export const maskedKey = (key: string | null): string => (key === null ? '…' : `…${key.slice(-4)}`)

/** Null for the usual one. */
export const otherThan = (usual: string, endpoint: string): string | null => (endpoint === usual ? null : endpoint)
