import { type Inner, type InnerFunction, show } from '../realm/index.ts'
import type { Host, OutgoingRequest, Settlement } from './host.ts'

/** What the container waits for an answer unless told otherwise (T). */
const DEFAULT_TIMEOUT = 15_000

/** `sendHttpRequest(url, options?, body?)`, which gives a promise, or the older `(url, callback, options?, body?)`. */
export function sendHttpRequest(host: Host, args: readonly Inner[]): Inner {
  const [url, second, third, fourth] = args
  if (typeof second === 'function') return sendWithCallback(host, second as InnerFunction, request(url, third, fourth))
  return sendWithPromise(host, request(url, second, third))
}

/** `sendHttpGet(url, options?)`. */
export function sendHttpGet(host: Host, args: readonly Inner[]): Inner {
  const [url, options] = args
  return sendWithPromise(host, { ...request(url, options, undefined), method: 'GET' })
}

function sendWithPromise(host: Host, outgoing: OutgoingRequest): Inner {
  host.permissions.demandUrl(outgoing.url)
  const { inside, promises } = host.realm
  return promises.create((resolve, reject) => {
    const settlement: Settlement = {
      answered: (answer) => resolve(inside.copy(answer)),
      failed: (reason) => reject(inside.copy({ reason })),
      gaveUp: () => reject(inside.copy({ reason: 'timed_out' })),
    }
    host.send(outgoing, settlement)
  })
}

/** Status code 0 stands for no answer. */
function sendWithCallback(host: Host, callback: InnerFunction, outgoing: OutgoingRequest): Inner {
  host.permissions.demandUrl(outgoing.url)
  const { inside } = host.realm
  host.send(outgoing, {
    answered: ({ statusCode, headers, body }) => void callback(statusCode, inside.copy(headers), body),
    failed: () => void callback(0, inside.copy({}), ''),
  })
  return undefined
}

function request(url: Inner, options: Inner, body: Inner): OutgoingRequest {
  if (typeof url !== 'string') throw new TypeError(`sendHttpRequest needs a URL as text, not ${show(url)}.`)
  if (body !== undefined && body !== null && typeof body !== 'string') {
    throw new TypeError(`The body of sendHttpRequest must be text, not ${show(body)}.`)
  }
  const { method, headers, timeout, authorization } = record(options, 'options')
  if (authorization !== undefined) throw new TypeError('This runner does not play authorization of sendHttpRequest.')
  return {
    url,
    method: typeof method === 'string' ? method.toUpperCase() : 'GET',
    headers: Object.fromEntries(
      Object.entries(record(headers, 'headers')).map(([name, value]) => [name, String(value)]),
    ),
    body: body ?? '',
    timeout: typeof timeout === 'number' && timeout > 0 ? timeout : DEFAULT_TIMEOUT,
  }
}

function record(value: Inner, what: string): Record<string, Inner> {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object') throw new TypeError(`The ${what} of sendHttpRequest must be an object.`)
  return { ...value }
}
