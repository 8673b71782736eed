import type { OutboundBytes } from '../../outbound/index.ts'

export const bodyOf = ({ bytes, isTruncated, headers }: OutboundBytes): FetchedBody => ({
  bytes,
  isTruncated,
  contentType: headers['content-type'] ?? null,
})

/** A body as received. Reading it moves its bytes to another thread and leaves it empty here. */
export interface FetchedBody {
  bytes: Uint8Array<ArrayBuffer>
  isTruncated: boolean
  contentType: string | null
}
