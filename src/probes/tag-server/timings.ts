import type { OutboundTimings } from '../../lib/index.ts'

/** How long each part of a request took, as details show it: whole ms, null for what did not happen. */
export const timingDetails = ({ dns, connect, tls, firstByte, total }: OutboundTimings) => ({
  dns_ms: dns,
  connect_ms: connect,
  tls_ms: tls,
  first_byte_ms: firstByte,
  total_ms: total,
})
