import { number, SECOND } from '../lib/index.ts'
import { OutboundError, type OutboundPhase } from './error.ts'

/** Limits of a request. A phase without its own limit is bounded by `totalMs`. */
export interface OutboundLimits {
  /** From the call to the end of the body, including redirects. */
  totalMs: number
  dnsMs?: number
  connectMs?: number
  tlsMs?: number
  firstByteMs?: number
  bodyMs?: number
  /** Most bytes of the body to read, after decompression. */
  bodyBytes: number
}

/** Whole ms; null for a phase that did not happen: no name to resolve, no TLS. Of the last hop, except `total`. */
export interface OutboundTimings {
  dns: number | null
  connect: number | null
  tls: number | null
  /** From sending the request to the head of the answer. */
  firstByte: number | null
  /** From the call, including redirects and body. */
  total: number
}

const WORDS: Readonly<Record<OutboundPhase, string>> = {
  dns: 'looking up the name of',
  connect: 'connecting to',
  tls: 'agreeing on encryption with',
  first_byte: 'waiting for the answer of',
  body: 'reading the answer of',
}

/** Times one request from call to end: its current phase, how long each phase took, and its deadlines. */
export class RequestTimer {
  readonly #controller = new AbortController()
  readonly #began = performance.now()
  readonly #totalTimer: NodeJS.Timeout
  readonly #stopListening: () => void
  readonly #limits: OutboundLimits
  #phaseTimer: NodeJS.Timeout | undefined
  #phase: OutboundPhase = 'dns'
  #phaseBegan = this.#began
  #took = new Map<OutboundPhase, number>()
  #host = ''
  #waitsHere = false

  constructor(limits: OutboundLimits, callersSignal: AbortSignal | undefined) {
    this.#limits = limits
    this.#totalTimer = setTimeout(() => this.#expire(limits.totalMs, ' in all'), limits.totalMs)
    const onAbort = () =>
      this.#controller.abort(
        new OutboundError('aborted', 'the request was called off', {
          cause: callersSignal?.reason,
          phase: this.#phase,
        }),
      )
    callersSignal?.addEventListener('abort', onAbort, { once: true })
    this.#stopListening = () => callersSignal?.removeEventListener('abort', onAbort)
    if (callersSignal?.aborted === true) onAbort()
  }

  /** Aborts with an OutboundError once time is up, or the caller no longer wants the request. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get phase(): OutboundPhase {
    return this.#phase
  }

  /** Starts a hop, the first or after a redirect: only the last hop's timings are reported. */
  startHop(host: string): void {
    this.#host = host
    this.#took.clear()
  }

  /** Runs one phase, under its own limit as well as the whole request's. */
  async during<T>(phase: OutboundPhase, work: () => Promise<T>): Promise<T> {
    this.#phase = phase
    this.#phaseBegan = performance.now()
    const limitMs = this.#limitOf(phase)
    if (limitMs !== undefined) this.#phaseTimer = setTimeout(() => this.#expire(limitMs, ''), limitMs)
    try {
      this.signal.throwIfAborted()
      return await work()
    } finally {
      clearTimeout(this.#phaseTimer)
      this.#took.set(phase, performance.now() - this.#phaseBegan)
    }
  }

  /** Runs work that waits for this process, not for the other end: a timeout meanwhile says nothing about the other end. */
  async duringOurs<T>(work: () => Promise<T>): Promise<T> {
    this.#waitsHere = true
    try {
      return await work()
    } finally {
      this.#waitsHere = false
    }
  }

  timings(): OutboundTimings {
    const took = (phase: OutboundPhase) => {
      const ms = this.#took.get(phase)
      return ms === undefined ? null : Math.round(ms)
    }
    return {
      dns: took('dns'),
      connect: took('connect'),
      tls: took('tls'),
      firstByte: took('first_byte'),
      total: Math.round(performance.now() - this.#began),
    }
  }

  /** Call once when the request has ended: releases the timers and the caller's signal. */
  end(): void {
    clearTimeout(this.#totalTimer)
    this.#stopListening()
  }

  #limitOf(phase: OutboundPhase): number | undefined {
    const { dnsMs, connectMs, tlsMs, firstByteMs, bodyMs } = this.#limits
    return { dns: dnsMs, connect: connectMs, tls: tlsMs, first_byte: firstByteMs, body: bodyMs }[phase]
  }

  #expire(limitMs: number, scope: string): void {
    const phase = this.#phase
    const host = this.#host
    const error = this.#waitsHere
      ? new OutboundError('interrupted', noRoom(host, limitMs), { phase })
      : new OutboundError('timeout', `${WORDS[phase]} ${host} took longer than ${inWords(limitMs)}${scope}`, { phase })
    this.#controller.abort(error)
  }
}

const noRoom = (host: string, limitMs: number): string =>
  `this server had no room for the answer of ${host} within ${inWords(limitMs)}: it was reading too many others`

/** For titles of alerts: `10 s`, `500 ms`. */
const inWords = (limitMs: number): string => (limitMs < SECOND ? `${limitMs} ms` : `${number(limitMs / SECOND)} s`)
