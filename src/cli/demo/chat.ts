import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chatPage } from './chat-page.ts'

/** A message as the page shows it. */
export interface ChatMessage {
  /** Counts up from 1 in the order of arrival. */
  number: number
  sentAt: string
  client: string | null
  tone: 'critical' | 'warning' | 'resolved' | 'neutral'
  text: string
  /** The path of its link on the dashboard. */
  path: string | null
}

/** Maximum number of messages kept. */
const KEPT = 200
const MAX_BODY_BYTES = 256 * 1_024

const PAGE = '/chat'
const MESSAGES = '/chat/messages'
const HOOK = '/chat/hook/'

/** The key in the address of this chat's webhook; null for any other address. */
export const chatKeyIn = (address: string | null): string | null => {
  const path = URL.parse(address ?? '')?.pathname ?? ''
  return path.startsWith(HOOK) ? path.slice(HOOK.length) : null
}

/**
 * The demo's own chat: a webhook that receives its clients' messages, and a page that shows them.
 *
 * Any page open in the same browser can send requests here. So the webhook needs a key, messages go only to this page, and a request
 * with another host name (DNS rebinding) is refused.
 */
export class Chat {
  readonly #key: string
  readonly #messages: ChatMessage[] = []
  readonly #seen = new Set<string>()
  #dashboard: string | null = null
  #count = 0

  constructor(key: string) {
    this.#key = key
  }

  /** @param base address of the server that passes requests to `handle` */
  hookUrl(base: string): string {
    return `${base}${HOOK}${this.#key}`
  }

  pageUrl(base: string): string {
    return `${base}${PAGE}`
  }

  /** Sets the dashboard's address; messages have no links before. */
  leadTo(dashboard: string): void {
    this.#dashboard = dashboard
  }

  get messages(): readonly ChatMessage[] {
    return this.#messages
  }

  /** Answers requests for the chat; returns false for others. */
  handle(request: IncomingMessage, response: ServerResponse, ownHost: string): boolean {
    const url = URL.parse(request.url ?? '/', `http://${ownHost}`)
    if (url === null || (url.pathname !== PAGE && !url.pathname.startsWith(`${PAGE}/`))) return false
    const { host, origin, 'sec-fetch-site': site = 'none' } = request.headers
    if (host !== ownHost || (url.pathname !== PAGE && !['none', 'same-origin'].includes(String(site)))) {
      response.writeHead(403, HEADERS).end()
    } else if (url.pathname.startsWith(HOOK)) {
      // Browsers send `Origin` with a POST; Tagwarden does not.
      if (request.method !== 'POST' || origin !== undefined || !this.#isKey(url.pathname.slice(HOOK.length))) {
        response.writeHead(404, HEADERS).end()
      } else void this.#receive(request, response)
    } else if (request.method === 'GET' && url.pathname === PAGE) {
      const { html, policy } = chatPage()
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/html; charset=utf-8', ...policy }).end(html)
    } else if (request.method === 'GET' && url.pathname === MESSAGES) {
      const after = Number(url.searchParams.get('after') ?? 0)
      const messages = this.#messages.filter(({ number }) => number > after)
      response
        .writeHead(200, { ...HEADERS, 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify({ dashboard: this.#dashboard, messages }))
    } else {
      response.writeHead(404, HEADERS).end()
    }
    return true
  }

  #isKey(text: string): boolean {
    const [given, own] = [Buffer.from(text), Buffer.from(this.#key)]
    return given.length === own.length && timingSafeEqual(given, own)
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request).catch(() => null)
    const payload = body === null ? null : payloadIn(body)
    if (payload === null) {
      response.writeHead(400, HEADERS).end()
      return
    }
    // Tagwarden repeats a message whose answer was lost: show it once.
    if (!this.#seen.has(payload.key)) {
      this.#seen.add(payload.key)
      this.#count += 1
      this.#messages.push({ number: this.#count, ...payload.message })
      if (this.#messages.length > KEPT) this.#messages.shift()
    }
    response.writeHead(204, HEADERS).end()
  }
}

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

/** @throws Error when the body is too long or ends early */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) throw new Error('the message is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Payload {
  idempotency_key: string
  sent_at: string
  status: string
  text: string
  client?: { name?: string } | null
  alerts?: { labels?: { severity?: string } }[]
}

/** The message in a body that `genericPayload` wrote; null for any other body. */
function payloadIn(body: string): { key: string; message: Omit<ChatMessage, 'number'> } | null {
  const payload = parsed(body)
  if (payload === null) return null
  const lines = payload.text.split('\n')
  // The last line is the link.
  const link = URL.parse(lines.at(-1) ?? '')
  return {
    key: payload.idempotency_key,
    message: {
      sentAt: payload.sent_at,
      client: payload.client?.name ?? null,
      tone: toneOf(payload),
      text: (link === null ? lines : lines.slice(0, -1)).join('\n'),
      path: link?.pathname ?? null,
    },
  }
}

function parsed(body: string): Payload | null {
  try {
    const value = JSON.parse(body) as Partial<Payload> | null
    const texts = [value?.idempotency_key, value?.sent_at, value?.status, value?.text]
    return texts.every((text) => typeof text === 'string') ? (value as Payload) : null
  } catch {
    return null
  }
}

function toneOf({ status, alerts }: Payload): ChatMessage['tone'] {
  if (status === 'resolved') return 'resolved'
  const severities = Array.isArray(alerts) ? alerts.map((alert) => alert?.labels?.severity) : []
  if (severities.includes('critical')) return 'critical'
  return severities.includes('warning') ? 'warning' : 'neutral'
}
