import { SECOND } from '../../lib/index.ts'
import { type Outbound, OutboundError, type OutboundErrorKind } from '../../outbound/index.ts'
import type { SendOutcome, Transport } from '../transport.ts'
import { outcomeOf } from './outcome.ts'
import { bodyOf, definitionOf, type Service, serviceOf } from './services.ts'

export interface ChatOptions {
  /** The only way to addresses that people typed in: private ones are refused, whatever name or spelling leads to them. */
  outbound: Outbound
  /** Signs what goes to webhooks that are no chat service; null leaves them unsigned. */
  webhookSecret: string | null
}

const LIMITS = { totalMs: 15 * SECOND, bodyBytes: 16 * 1_024 }

/** Failures that lie in the address, which no waiting mends. */
const BROKEN: readonly OutboundErrorKind[] = ['bad_url', 'forbidden_address']

/** Sends to chat services and other webhooks, each in the shape it takes. */
export function createChatTransport({ outbound, webhookSecret }: ChatOptions): Transport {
  return {
    async send(order, signal) {
      const service = serviceOf(order.address)
      const body = bodyOf(service, order.message, order)
      try {
        const answer = await outbound.request(requestUrl(service, order.address), {
          method: 'POST',
          headers: { ...HEADERS, ...definitionOf(service).headers?.(order, body, webhookSecret) },
          body,
          limits: LIMITS,
          signal,
        })
        return outcomeOf(service, answer, order.at)
      } catch (thrown) {
        return outcomeOfFailure(thrown)
      }
    },
  }
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', accept: 'application/json, text/plain, */*' }

/** The address with what the service wants in it. */
export function requestUrl(service: Service, address: string): string {
  const { url: changed } = definitionOf(service)
  const url = URL.parse(address)
  return url === null || changed === undefined ? address : changed(url).href
}

/** @throws what is no failure of the request, but a fault of this program */
function outcomeOfFailure(thrown: unknown): SendOutcome {
  if (!(thrown instanceof OutboundError)) throw thrown
  return { kind: BROKEN.includes(thrown.kind) ? 'channel_broken' : 'passing', error: thrown.message }
}
