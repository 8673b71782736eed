import { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/index.ts'
import { formatOutboundAllow, type OutboundAllow } from './allow.ts'
import type { CertificateFacts } from './certificate.ts'
import type { NameFacts } from './connect.ts'
import { OutboundError, type OutboundErrorKind, type OutboundPhase } from './error.ts'
import type { Outbound, OutboundAnswer, OutboundBytes, OutboundRequest } from './outbound.ts'

export interface OutboundThreadOptions {
  allow: OutboundAllow
  /** Sent as `User-Agent`, unless the request has its own. */
  userAgent: string
  clock: Clock
}

/** An `Outbound` that its owner closes. */
export interface OwnedOutbound extends Outbound {
  /** Makes current and later requests fail. */
  close(): Promise<void>
}

interface PendingRequest {
  resolve: (answer: ThreadAnswer) => void
  reject: (error: Error) => void
}

/** Answers only pass through the thread: V8's default would let its young generation grow to 48 MB. */
const YOUNG_GENERATION_MB = 8
/** Bodies are outside the heap, except those of a few kB that are returned as text. */
const OLD_GENERATION_MB = 512

/**
 * `Outbound` in its own thread, which starts with the first request. What a request leaves behind (sockets, handles, streams)
 * outlives V8's quick collections. In the heap of ingest, 167 requests a second made each of them take ten times as long, and
 * halved ingest's throughput. Handshakes and decompression are off ingest's thread as well.
 */
export class OutboundThread implements OwnedOutbound {
  readonly #settings: ThreadSettings
  readonly #clock: Clock
  readonly #pending = new Map<number, PendingRequest>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  constructor({ allow, userAgent, clock }: OutboundThreadOptions) {
    this.#settings = { allow: formatOutboundAllow(allow), userAgent }
    this.#clock = clock
  }

  async request(url: string, { signal, ...request }: OutboundRequest = {}): Promise<OutboundAnswer> {
    return (await this.#ask({ kind: 'request', url, request }, signal)) as OutboundAnswer
  }

  async fetchBytes(url: string, { signal, ...request }: OutboundRequest = {}): Promise<OutboundBytes> {
    return (await this.#ask({ kind: 'fetchBytes', url, request }, signal)) as OutboundBytes
  }

  async resolve(
    host: string,
    { signal, ...options }: { wantsAliases?: boolean; totalMs?: number; signal?: AbortSignal } = {},
  ): Promise<NameFacts> {
    return (await this.#ask({ kind: 'resolve', host, options }, signal)) as NameFacts
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    if (worker === undefined) return
    this.#giveUp(worker, 'the service stops')
    await worker.terminate()
  }

  async #ask(question: ThreadQuestion, signal: AbortSignal | undefined): Promise<ThreadAnswer> {
    if (signal?.aborted === true) {
      throw new OutboundError('aborted', 'the request was called off', { cause: signal.reason })
    }
    const worker = this.#running()
    const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>()
    const id = ++this.#lastId
    const order = (text: ThreadOrder) => worker.postMessage(text)
    order({ id, now: this.#clock.now(), question })
    this.#pending.set(id, { resolve, reject })
    const onAbort = () => order({ id, question: 'abort' })
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await promise
    } finally {
      this.#pending.delete(id)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #running(): Worker {
    if (this.#isClosed) throw new Error('the service stops')
    if (this.#worker !== undefined) return this.#worker
    // `execArgv` is empty so that flags of the main program (a debugger's port, a test runner's) do not reach the thread.
    const worker = new Worker(new URL('./thread-worker.ts', import.meta.url), {
      workerData: this.#settings,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB, maxOldGenerationSizeMb: OLD_GENERATION_MB },
    })
    worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    // The thread ends when it runs out of memory; the next request then starts another.
    worker.on('error', (error) => this.#giveUp(worker, error.message))
    worker.on('exit', () => this.#giveUp(worker, 'it ended'))
    this.#worker = worker
    return worker
  }

  #settle(reply: ThreadReply): void {
    const pending = this.#pending.get(reply.id)
    if (reply.ok) pending?.resolve(reply.answer)
    else pending?.reject(errorOf(reply.failure))
  }

  #giveUp(worker: Worker, why: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const error = new OutboundError('interrupted', `the thread for outgoing requests ended: ${why}`)
    for (const { reject } of this.#pending.values()) reject(error)
  }
}

function errorOf({ message, outbound }: ThreadFailure): Error {
  if (outbound === undefined) return new Error(message)
  const { kind, phase, certificate } = outbound
  return new OutboundError(kind, message, {
    ...(phase === null ? {} : { phase }),
    ...(certificate === null ? {} : { certificate }),
  })
}

/** The data that the thread starts with. */
export interface ThreadSettings {
  /** The text of `OUTBOUND_ALLOW`, because address objects cannot be sent to a thread. */
  allow: string
  userAgent: string
}

/** A request without its signal, which cannot be sent to a thread: an `abort` with the same id replaces it. */
export type ThreadQuestion =
  | { kind: 'request' | 'fetchBytes'; url: string; request: Omit<OutboundRequest, 'signal'> }
  | { kind: 'resolve'; host: string; options: { wantsAliases?: boolean; totalMs?: number } }

export type ThreadOrder =
  /** `now` is the caller's clock, epoch ms, by which certificates are judged. */
  { id: number; now: number; question: ThreadQuestion } | { id: number; question: 'abort' }

export interface ThreadFailure {
  message: string
  /** Details of an OutboundError; absent for any other error. */
  outbound?: { kind: OutboundErrorKind; phase: OutboundPhase | null; certificate: CertificateFacts | null }
}

type ThreadAnswer = OutboundAnswer | OutboundBytes | NameFacts

export type ThreadReply =
  | { id: number; ok: true; answer: ThreadAnswer }
  | { id: number; ok: false; failure: ThreadFailure }
