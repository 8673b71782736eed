import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Answer, OutgoingRequest } from './apis/index.ts'

/** Why a request got no answer: its time was up, its instance was lost, or the network failed. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly reason: 'failed' | 'timed_out' | 'lost'

  constructor(reason: 'failed' | 'timed_out' | 'lost', message: string) {
    super(message)
    this.reason = reason
  }
}

/** More at once wait for a socket, as they would in a container. */
const SOCKETS = 64

/** Real HTTP to where `connect` says that an origin lives. */
export class Transport {
  readonly #targets: ReadonlyMap<string, URL>
  readonly #timeoutScale: () => number
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: SOCKETS }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: SOCKETS }),
  }

  /** Throws TypeError on an entry of `connect` that is no origin. */
  constructor(connect: Readonly<Record<string, string>>, timeoutScale: () => number) {
    this.#targets = new Map(Object.entries(connect).map(([from, to]) => [originOf(from), new URL(originOf(to))]))
    this.#timeoutScale = timeoutScale
  }

  /** The whole answer, whatever its status. Throws NoAnswer. `lost` ends it early. */
  async send(outgoing: OutgoingRequest, lost: AbortSignal): Promise<Answer> {
    const url = URL.canParse(outgoing.url) ? new URL(outgoing.url) : null
    const target = url === null ? undefined : this.#targets.get(url.origin)
    if (url === null || target === undefined) {
      throw new NoAnswer('failed', `no entry of connect answers for ${outgoing.url}`)
    }
    const late = AbortSignal.timeout(Math.ceil(outgoing.timeout * this.#timeoutScale()))
    try {
      return await this.#exchange(outgoing, url, target, AbortSignal.any([lost, late]))
    } catch (error) {
      if (lost.aborted) throw new NoAnswer('lost', 'the instance was lost')
      if (late.aborted) throw new NoAnswer('timed_out', `no answer within ${outgoing.timeout} ms`)
      throw new NoAnswer('failed', error instanceof Error ? error.message : String(error))
    }
  }

  close(): void {
    this.#agents['http:'].destroy()
    this.#agents['https:'].destroy()
  }

  #exchange({ method, headers, body }: OutgoingRequest, url: URL, target: URL, signal: AbortSignal): Promise<Answer> {
    const secure = target.protocol === 'https:'
    const options: RequestOptions = {
      method,
      protocol: target.protocol,
      hostname: target.hostname,
      port: target.port,
      path: `${url.pathname}${url.search}`,
      // The proxy that ends TLS passes the name on under which it was asked.
      headers: { ...headers, Host: url.host, 'Content-Length': String(Buffer.byteLength(body)) },
      agent: this.#agents[secure ? 'https:' : 'http:'],
      signal,
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const request = (secure ? requestHttps : requestHttp)(options, (response) => {
      wholeAnswer(response).then(resolve, reject)
    })
    request.on('error', reject)
    request.end(body)
    return promise
  }
}

async function wholeAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
  return {
    statusCode: response.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks).toString(),
  }
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(`connect: "${text}" is no http or https origin.`)
  }
  return url.origin
}
