import { request as ask, type ClientRequest, createServer, type IncomingHttpHeaders } from 'node:http'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { Clock } from '../../../src/lib/index.ts'
import { type ApiClient, apiClient, bearer } from '../../../testkit/api.ts'
import { listen } from '../../../testkit/listeners.ts'
import { startTestService, type TestService } from '../../../testkit/service.ts'
import { ADMIN } from '../support.ts'

/** Where the proxy connects from; strangers have other addresses of the loopback network. */
export const PROXY = '127.0.0.2'
export const STRANGER = '127.0.0.3'
export const SIGN_OUT = 'https://tagwarden.example.com/oauth2/sign_out'

const SETTINGS = {
  ADMIN_TOKEN: ADMIN,
  PROXY_EMAIL_HEADER: 'X-Forwarded-Email',
  PROXY_NAME_HEADER: 'X-Forwarded-User',
  PROXY_GROUPS_HEADER: 'X-Forwarded-Groups',
  PROXY_ADDRESSES: PROXY,
  GROUP_ROLES: 'admins: owner of all; acme: editor of Acme',
}

export interface LogLine {
  level: number
  msg: string
  problem?: string
  address?: string
}

export interface ProxiedService {
  api: TestService
  /** With the admin key, past the proxy. */
  admin: ApiClient
  lines: LogLine[]
}

/** A service whose people a proxy signs in. */
export async function startProxied(
  t: TestContext,
  clock: Clock,
  environment: Record<string, string> = {},
): Promise<ProxiedService> {
  const lines: LogLine[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line) as LogLine) })
  const api = await startTestService(t, clock, { ...SETTINGS, ...environment }, log)
  return { api, admin: apiClient(api.url, bearer(ADMIN)), lines }
}

/** Whom a proxy has signed in; its headers as they go over the wire. */
export interface Signed {
  email?: string
  name?: string
  groups?: string
}

export interface SigningProxy {
  url: string
  /** Null: it lets everyone through, and names no one. */
  signed: Signed | null
  /** Whether it removes the headers from what callers send, as it must. */
  removes: boolean
}

const OWN = /^x-forwarded-(email|user|groups)$/

/** A reverse proxy that forwards everything, streams too, and says who someone is. */
export async function startSigningProxy(t: TestContext, target: string, from = PROXY): Promise<SigningProxy> {
  const proxy: SigningProxy = { url: '', signed: null, removes: true }
  const server = createServer((request, response) => {
    const onward = forward(target, from, request.method ?? 'GET', request.url ?? '/', [
      ...pairsOf(request.rawHeaders).filter(([name]) => !proxy.removes || !OWN.test(name.toLowerCase())),
      ...headersOf(proxy.signed ?? {}),
    ])
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      response.flushHeaders()
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  proxy.url = `http://127.0.0.1:${await listen(server)}`
  return proxy
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as [string, string]] : []))
}

export const headersOf = ({ email, name, groups }: Signed): [string, string][] => [
  ...(email === undefined ? [] : [['X-Forwarded-Email', email] as [string, string]]),
  ...(name === undefined ? [] : [['X-Forwarded-User', name] as [string, string]]),
  ...(groups === undefined ? [] : [['X-Forwarded-Groups', groups] as [string, string]]),
]

function forward(
  target: string,
  localAddress: string,
  method: string,
  path: string,
  headers: readonly [string, string][],
): ClientRequest {
  const { hostname, port } = new URL(target)
  // Pairs in one list go as they are, one that comes twice too.
  return ask({ hostname, port, method, path, localAddress, agent: false, headers: headers.flat() as never })
}

export interface Straight {
  status: number
  headers: IncomingHttpHeaders
  json: <T>() => T
}

/** Calls the service from an address, with exactly these headers. */
export function callFrom(
  address: string,
  target: string,
  path: string,
  headers: readonly [string, string][],
  method = 'GET',
): Promise<Straight> {
  return new Promise((resolve, reject) => {
    const call = forward(target, address, method, path, [['Host', new URL(target).host], ...headers])
    call.on('error', reject)
    call.on('response', async (answer) => {
      const chunks = await answer.toArray()
      const text = Buffer.concat(chunks as Buffer[]).toString()
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, json: <T>() => JSON.parse(text) as T })
    })
    call.end()
  })
}
