import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Client } from 'undici'
import { SECOND } from '../lib/index.ts'
import { ACCEPT_ENCODING, type Body, type BodyBudget, readBody } from './body.ts'
import type { RequestTimer } from './request-timer.ts'
import type { Hop } from './target.ts'

export interface Exchanged {
  status: number
  headers: Readonly<Record<string, string>>
  /** Null when it was not wanted. */
  body: Body | null
}

/** Pages send policies and cookies that exceed Node's own limit of 16 KiB. */
const MAX_HEADER_BYTES = 64 * 1_024

/** Shared, because undici would make an error for each client, whose stack trace costs more than the rest of closing it. */
const ENDED = new Error('the exchange is over')

/**
 * Sends a request over an open connection, and closes it.
 *
 * @param wantsBody whether to read the body of an answer with this status and these headers
 * @param isDoneByHead see `OutboundRequest`
 * @throws errors of the socket, undici or the decompression, or the timer's reason
 */
export async function exchange(
  hop: Hop,
  socket: Socket,
  timer: RequestTimer,
  budget: BodyBudget,
  maxBytes: number,
  wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean,
  isDoneByHead: boolean,
): Promise<Exchanged> {
  const client = await clientOver(socket, hop.target.url.origin)
  try {
    const { url } = hop.target
    const response = await timer.during('first_byte', () =>
      client.request({
        path: url.pathname + url.search,
        method: hop.method,
        headers: { accept: '*/*', 'accept-encoding': ACCEPT_ENCODING, ...hop.headers },
        body: hop.body,
        signal: timer.signal,
        reset: true,
      }),
    )
    const status = response.statusCode
    const headers = singleValued(response.headers)
    // For a body that is not read, the end of the connection is an error.
    response.body.on('error', () => {})
    if (!wantsBody(status, headers)) return { status, headers, body: null }
    const isDone = isDoneByHead && status >= 200 && status < 300
    const body = await timer
      .during('body', () =>
        readBody(response.body, headers, maxBytes, (bytes) => timer.duringOurs(() => budget.take(bytes, timer.signal))),
      )
      .catch((thrown: unknown) => {
        if (!isDone) throw thrown
        return { bytes: new Uint8Array(0), isTruncated: true }
      })
    return { status, headers, body }
  } finally {
    await client.destroy(ENDED)
    socket.destroy()
  }
}

let undici: Promise<typeof import('undici')> | undefined

/**
 * Loads undici, which takes 0.1 s and 28 MB, only in processes that make requests; an ingest node makes none. Await it before
 * measuring anything. Cached, because Node resolves a dynamic import again each time.
 */
export function loadUndici(): Promise<typeof import('undici')> {
  undici ??= import('undici')
  return undici
}

async function clientOver(socket: Socket, origin: string): Promise<Client> {
  const { Client, errors } = await loadUndici()
  return new Client(origin, {
    connect: (_options, connected) => {
      // undici waits for ever if the connector answers before it returns.
      queueMicrotask(() => {
        // The server may have hung up already. Without this, undici would connect again, to an unchecked address.
        if (socket.readyState === 'open') connected(null, socket)
        else connected(new errors.SocketError('closed'), null)
      })
    },
    // The timer handles timeouts, by phase and to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
}

/** Joins the values of a repeated header, as HTTP allows. */
const singleValued = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

/**
 * How long a `Retry-After` header asks to wait, in ms from `now`; null without a readable one. It comes from strangers: limit it
 * before waiting.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  // Date.parse alone accepts far more than HTTP's dates, which all begin with a weekday.
  // The form of `asctime` names no zone, and Date.parse would take ours.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text.replace(/ \d{4}$/, '$& GMT')) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
