import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, excessOf } from '../lib/index.ts'
import { answerError, answerOk, type IngestError } from './answers.ts'
import { announcesTooMuch, type Body, BodyReader, discardRest } from './body.ts'
import { checkPayload } from './check.ts'
import type { GroupCommit, Submission } from './group-commit.ts'
import { IDEMPOTENCY_KEY_MAX } from './idempotency.ts'
import { keptPayload } from './kept.ts'
import type { KeyIndex, SiteEntry } from './key-index.ts'
import { eventsIn } from './normalise.ts'
import type { Payload } from './payload.ts'
import type { RejectionReason, SampleRecorder } from './samples.ts'
import type { Shedding } from './shedding.ts'

export interface DoorOptions {
  clock: Clock
  keys: KeyIndex
  commits: GroupCommit
  samples: SampleRecorder
  shedding: Shedding
  /** Lower-cased names of the headers that may carry the ingest key, the first found wins. */
  keyHeaders: readonly string[]
}

/** When a sender that was refused for want of room may come again: overload is over, or is judged anew, by then. */
const ROOM_AGAIN_SECONDS = 1

/** Where a refusal is said to be whose client has too much under way. */
const BYTES_UNDER_WAY = 'bytes under way'
/** Which limit of the plan refused a request, in place of a path. */
const PLAN_LIMITS = { rate: 'requests per second', quota: 'events per month' } as const

const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * The ingest endpoint. Checks in the order of their cost, so that a refusal is cheaper than an acceptance:
 * key (401) → state (403) → rate and quota (429) → room (503) → size (413) → JSON and schema (400) → commit → 200.
 */
export class IngestDoor {
  readonly #options: DoorOptions
  readonly #bodies = new BodyReader()
  /** Answers by outcome, for `/metrics`. */
  readonly answers: Record<'ok' | IngestError, number> = {
    ok: 0,
    invalid_payload: 0,
    unauthorized: 0,
    forbidden: 0,
    method_not_allowed: 0,
    payload_too_large: 0,
    rate_limited: 0,
    internal_error: 0,
    unavailable: 0,
  }

  constructor(options: DoorOptions) {
    this.#options = options
  }

  /** Bytes of requests that have begun and are not answered. */
  get bytesUnderWay(): number {
    return this.#bodies.bytesUnderWay
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { clock, keys, shedding } = this.#options
    if (request.method !== 'POST') {
      this.#refuse(request, response, 'method_not_allowed')
      return
    }
    const key = this.#keyOf(request)
    const site = key === undefined ? undefined : keys.find(key)
    if (site === undefined) {
      this.#refuse(request, response, 'unauthorized')
      return
    }
    if (!site.isOpen) {
      this.#reject(request, response, site, 'forbidden', '')
      return
    }
    const refusal = site.meter.takeRequest(clock.now())
    if (refusal !== undefined) {
      this.#reject(request, response, site, 'rate_limited', PLAN_LIMITS[refusal.limit], refusal.retryAfterSeconds)
      return
    }
    if (!shedding.admits(performance.now())) {
      this.#refuse(request, response, 'unavailable', ROOM_AGAIN_SECONDS)
      return
    }
    if (announcesTooMuch(request.headers['content-length'])) {
      this.#reject(request, response, site, 'payload_too_large', '')
      return
    }
    this.#bodies.read(
      request,
      site.clientId,
      (body) => this.#accept(request, response, site, body),
      (refusal) => {
        if (refusal.why === 'too_large') this.#reject(request, response, site, 'payload_too_large', '')
        else if (refusal.full === 'all') this.#refuse(request, response, 'unavailable', ROOM_AGAIN_SECONDS)
        else this.#reject(request, response, site, 'rate_limited', BYTES_UNDER_WAY, ROOM_AGAIN_SECONDS)
      },
    )
  }

  #accept(request: IncomingMessage, response: ServerResponse, site: SiteEntry, body: Body): void {
    const { clock, commits, samples } = this.#options
    const checked = checkRequest(request, body.text)
    if (!checked.ok) {
      body.release()
      this.#reject(request, response, site, 'invalid_payload', checked.path)
      return
    }
    const { payload, idempotencyKey } = checked
    const events = eventsIn(payload)
    const now = clock.now()
    const refusal = site.meter.takeEvents(events, now)
    if (refusal !== undefined) {
      body.release()
      this.#reject(request, response, site, 'rate_limited', PLAN_LIMITS[refusal.limit], refusal.retryAfterSeconds)
      return
    }
    const settle: Submission['settle'] = (outcome) => {
      body.release()
      if (outcome === 'committed') site.meter.settleEvents(events, now)
      else site.meter.giveBackEvents(events, now)
      if (outcome === 'failed') {
        this.#refuse(request, response, 'internal_error')
        return
      }
      if (outcome === 'refused') {
        this.#refuse(request, response, 'unavailable', ROOM_AGAIN_SECONDS)
        return
      }
      if (outcome === 'committed') samples.accepted(site.siteNo, payload, body.size, now)
      this.answers.ok++
      answerOk(response)
    }
    commits.submit({ siteNo: site.siteNo, payload, idempotencyKey, bytes: body.size, settle })
  }

  #keyOf(request: IncomingMessage): string | undefined {
    const { headers } = request
    for (const name of this.#options.keyHeaders) {
      const value = headers[name]
      if (typeof value === 'string' && value !== '') return value
    }
    return undefined
  }

  /** A refusal that the site's owner gets to see. */
  #reject(
    request: IncomingMessage,
    response: ServerResponse,
    site: SiteEntry,
    reason: RejectionReason,
    path: string,
    retryAfterSeconds?: number,
  ): void {
    this.#options.samples.rejected(site.siteNo, reason, path, this.#options.clock.now())
    this.#refuse(request, response, reason, retryAfterSeconds)
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: IngestError, retryAfterSeconds?: number): void {
    this.answers[error]++
    // A body that is announced small enough is read past, and the connection stays; anything else is cut.
    const closing = error === 'payload_too_large' || !hasSmallBody(request)
    answerError(response, error, { closing, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) })
    if (closing) discardRest(request, response)
  }
}

type CheckedRequest = { ok: true; payload: Payload; idempotencyKey: string | undefined } | { ok: false; path: string }

function checkRequest(request: IncomingMessage, text: string): CheckedRequest {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) return { ok: false, path: 'header Content-Type' }
  if (isEncoded(request)) return { ok: false, path: 'header Content-Encoding' }
  const idempotencyKey = idempotencyKeyOf(request)
  if (idempotencyKey !== undefined && idempotencyKey.length > IDEMPOTENCY_KEY_MAX) {
    return { ok: false, path: 'header Idempotency-Key' }
  }
  const excess = excessOf(text)
  if (excess !== null) return { ok: false, path: excess }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, path: 'not JSON' }
  }
  const checked = checkPayload(value)
  if (!checked.ok) return checked
  // Unknown fields go at once: an empty object of two bytes takes 56 in memory, and there may be half a million of them.
  return { ok: true, payload: keptPayload(checked.payload), idempotencyKey }
}

/** Bodies come as they are: no tag compresses, and a small body could hold a large one. */
function isEncoded(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding']
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity'
}

function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const value = request.headers['idempotency-key']
  return typeof value === 'string' && value !== '' ? value : undefined
}

const SMALL_BODY = 65_536

function hasSmallBody(request: IncomingMessage): boolean {
  if (request.complete) return true
  const length = request.headers['content-length']
  if (length === undefined) return request.headers['transfer-encoding'] === undefined
  return Number(length) <= SMALL_BODY
}
