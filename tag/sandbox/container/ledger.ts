import type { OutgoingRequest } from '../apis/index.ts'
import type { RequestOutcome, SentCounters, SentRequest } from '../types.ts'

/** The record of all requests and their counts. */
export class Ledger {
  readonly requests: SentRequest[] = []
  readonly counters: SentCounters = {
    requests: 0,
    answered: 0,
    accepted: 0,
    failed: 0,
    timedOut: 0,
    lost: 0,
    bodyBytes: 0,
  }

  /** Notes a request that starts, and gives what to call when it ends. */
  start(instance: number, { method, url, headers, body }: OutgoingRequest): (end: RequestEnd) => void {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)
    const entry = {
      instance,
      method,
      url,
      headers,
      body,
      bytes: `${method} ${url}\n${head.join('')}\n${body}`,
      outcome: 'pending' as RequestOutcome,
      statusCode: null as number | null,
      error: null as string | null,
    }
    this.requests.push(entry)
    this.counters.requests++
    this.counters.bodyBytes += Buffer.byteLength(body)
    return ({ outcome, statusCode = null, error = null }) => {
      Object.assign(entry, { outcome, statusCode, error })
      this.#count(outcome, statusCode)
    }
  }

  #count(outcome: RequestOutcome, statusCode: number | null): void {
    if (outcome === 'answered') this.counters.answered++
    if (outcome === 'failed') this.counters.failed++
    if (outcome === 'timed_out') this.counters.timedOut++
    if (outcome === 'lost') this.counters.lost++
    if (statusCode !== null && statusCode >= 200 && statusCode < 300) this.counters.accepted++
  }
}

export interface RequestEnd {
  readonly outcome: RequestOutcome
  readonly statusCode?: number
  readonly error?: string
}
