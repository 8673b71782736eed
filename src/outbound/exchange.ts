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

/** Pages send policies and cookies that Node's own limit of 16 KiB has been too small for. */
const MAX_HEADER_BYTES = 64 * 1_024

/** undici would make one of its own for each client, and the stack trace would cost more than the rest of the ending. */
const ENDED = new Error('the exchange is over')

/**
 * Asks over a connection that is open, and closes it.
 *
 * @param wantsBody whether to read the body of an answer that begins like this
 * @throws what the socket, undici or the decompression fails with, or what the timer is aborted with
 */
export async function exchange(
  hop: Hop,
  socket: Socket,
  timer: RequestTimer,
  budget: BodyBudget,
  maxBytes: number,
  wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean,
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
    // The end of the connection is an error of a body that is not read.
    response.body.on('error', () => {})
    if (!wantsBody(status, headers)) return { status, headers, body: null }
    const body = await timer.during('body', () =>
      readBody(response.body, headers, maxBytes, (bytes) => timer.duringOurs(() => budget.take(bytes, timer.signal))),
    )
    return { status, headers, body }
  } finally {
    await client.destroy(ENDED)
    socket.destroy()
  }
}

let undici: Promise<typeof import('undici')> | undefined

/**
 * undici takes 0.1 s and 28 MB to load, which a process that makes no requests, such as an ingest node, does without. Await it
 * before measuring anything. Cached, as Node resolves a dynamic import again each time.
 */
export function loadUndici(): Promise<typeof import('undici')> {
  undici ??= import('undici')
  return undici
}

async function clientOver(socket: Socket, origin: string): Promise<Client> {
  const { Client, errors } = await loadUndici()
  return new Client(origin, {
    connect: (_options, connected) => {
      // undici waits for ever for a connector that answers before it returns.
      queueMicrotask(() => {
        // The server may have hung up already; and undici connects again after that, to what would be unchecked.
        if (socket.readyState === 'open') connected(null, socket)
        else connected(new errors.SocketError('closed'), null)
      })
    },
    // The timer ends what takes too long, phase by phase and to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
}

/** Values of a header that is repeated are joined as HTTP says they may be. */
const singleValued = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

/**
 * How long a `Retry-After` header asks to wait, in ms from `now`; null without one that can be read. It comes from
 * strangers: bound it before waiting.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  // Date.parse alone would take much more than HTTP's dates: all of these name a weekday first.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
