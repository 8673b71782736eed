import type { ServerOptions } from 'node:http'

/** Largest body a management call may send: 1 MB. */
export const MAX_BODY_BYTES = 1_048_576

/**
 * What one caller may hold of the server, for the code that creates it (Fastify, or a server factory). Times in ms.
 * The senders of a slowloris live from servers that wait: here a request has a deadline from its first byte.
 */
export const SERVER_LIMITS = {
  /** Room for the cookies and headers that proxies add; what is over is answered 431. */
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  /** Headers and body together: 1 MB arrives in time over a line of 300 kbit/s. */
  requestTimeout: 30_000,
  /** Longer than the 60 s after which load balancers drop idle connections, so that they never send into a closed one. */
  keepAliveTimeout: 72_000,
  /** Node looks at the two deadlines above only this often; its default of 30 s would double them. */
  connectionsCheckingInterval: 5_000,
} satisfies ServerOptions

/** A socket without a byte in either direction for this long is cut: half-open connections, readers that stopped. */
export const IDLE_SOCKET_TIMEOUT_MS = 120_000

/** Requests of one connection that may wait for the answer to the one before (pipelining). One more cuts the connection. */
export const PIPELINED_MAX = 32
/** The same for ingest, whose requests go side by side: a group commit answers them together. */
export const PIPELINED_INGEST_MAX = 256
