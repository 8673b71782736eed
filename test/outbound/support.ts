import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import {
  createOutbound,
  type Outbound,
  OutboundError,
  type OutboundLookup,
  parseOutboundAllow,
} from '../../src/outbound/index.ts'
import { listen } from '../../testkit/listeners.ts'
import type { ServerCertificate } from './certificates.ts'

/** A server on a port of its own at 127.0.0.1, and how many connections it has seen. */
export interface TestServer {
  port: number
  connections: () => number
  /** Sockets of clients that are still connected. */
  open: () => number
}

export const httpServer = (t: TestContext, answer: RequestListener): Promise<TestServer> =>
  open(t, createHttpServer(answer))

export const httpsServer = (t: TestContext, certificate: ServerCertificate, answer: RequestListener) =>
  open(t, createHttpsServer({ key: certificate.key, cert: certificate.chain }, answer))

export const tcpServer = (t: TestContext, talk: (socket: Socket) => void): Promise<TestServer> =>
  open(t, createTcpServer(talk))

async function open(t: TestContext, server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  const port = await listen(server)
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    if (server.listening) await once(server, 'close')
  })
  return {
    port,
    connections: () => connections,
    open: () => sockets.size,
  }
}

/** Answers of a resolver that knows these names only: fixed ones, or what a function makes up. */
export type Names = Readonly<Record<string, readonly string[] | (() => readonly string[])>>

export const lookupIn =
  (names: Names): OutboundLookup =>
  async (host) => {
    const answer = names[host]
    if (answer === undefined) throw Object.assign(new Error(`queryA ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
    return typeof answer === 'function' ? answer() : answer
  }

/** Outgoing requests under a name that leads here: `here.example`, and others as given. */
export const testOutbound = (
  allow = 'here.example',
  names: Names = {},
  lookup = lookupIn({ 'here.example': ['127.0.0.1'], ...names }),
  lookupAlias = lookupIn({}),
): Outbound =>
  createOutbound({
    allow: parseOutboundAllow(allow),
    userAgent: 'Tagwarden/test',
    clock: systemClock,
    lookup,
    lookupAlias,
  })

/** What a request failed with; an answer fails the test. */
export async function failureOf(request: Promise<unknown>): Promise<OutboundError> {
  let answer: unknown
  try {
    answer = await request
  } catch (thrown) {
    if (thrown instanceof OutboundError) return thrown
    throw thrown
  }
  throw new Error(`was answered: ${JSON.stringify(answer)}`)
}

/** Counts the sockets that this process opens to anywhere, whether or not there is an answer. */
export function countSockets(t: TestContext): () => number {
  let opened = 0
  const count = () => {
    opened++
  }
  subscribe('net.client.socket', count)
  t.after(() => unsubscribe('net.client.socket', count))
  return () => opened
}
