import type { OutboundBytes } from '../../outbound/index.ts'

export const bodyOf = ({ bytes, isTruncated, headers }: OutboundBytes): FetchedBody => ({
  bytes,
  isTruncated,
  contentType: headers['content-type'] ?? null,
})

/** A body as it came. Reading it takes it: it is empty afterwards. */
export interface FetchedBody {
  bytes: Uint8Array<ArrayBuffer>
  isTruncated: boolean
  contentType: string | null
}
