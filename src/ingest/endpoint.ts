import type { IncomingMessage, ServerResponse } from 'node:http'
import { type EncodedEntry, eventsIn, type GroupCommit, type Payload, type Submission } from '../journal/index.ts'
import { type Clock, isoTime } from '../lib/index.ts'
import { PLAN_LIMITS } from '../management/index.ts'
import { answerError, answerOk, type ErrorAnswer, type IngestError } from './answers.ts'
import { announcesTooMuch, type Body, BodyReader, discardRest, SMALL_BODY } from './body.ts'
import type { Canaries, CanaryBook } from './canaries.ts'
import { knownFieldsOf } from './check.ts'
import { judgeBody, judgeHeaders, textOf } from './judge.ts'
import { type KeyEnd, type KeyEntry, type KeyIndex, type SiteEntry, UNREAD_KEYS } from './key-index.ts'
import type { LargeBodies } from './large-bodies.ts'
import { keyIn, Mistakes } from './mistakes.ts'
import type { RejectionReason, SampleRecorder } from './samples.ts'
import type { Shedding } from './shedding.ts'

export interface IngestEndpointOptions {
  clock: Clock
  keys: KeyIndex
  commits: GroupCommit
  samples: SampleRecorder
  canaries: CanaryBook
  shedding: Shedding
  largeBodies: LargeBodies
  /** Lower-cased names of the headers that may carry the ingest key; the first one present wins. */
  keyHeaders: readonly string[]
}

/** `Retry-After` of a request refused for overload: by then the overload has passed, or is judged again. */
const OVERLOAD_RETRY_SECONDS = 1

/** Recorded in place of a path. With `rate_limited` the client has too many bytes under way, with `unavailable` all clients together. */
const BYTES_UNDER_WAY = 'bytes under way'
/** Recorded in place of a path: what this node had too much of. */
const OVERLOAD = { requests: 'requests at once', commits: 'requests waiting', bodies: 'large bodies' } as const

/**
 * The ingest endpoint. It checks in order of cost, so that refusing is cheaper than accepting: key (401, 503) → end of the key, state
 * (403) → rate and quota (429) → room (503) → size (413) → JSON and schema (400) → commit → 200.
 */
export class IngestEndpoint {
  readonly #options: IngestEndpointOptions
  readonly #mistakes: Mistakes
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

  constructor(options: IngestEndpointOptions) {
    this.#options = options
    this.#mistakes = new Mistakes(options)
  }

  /** Bytes of unanswered requests. */
  get bytesUnderWay(): number {
    return this.#bodies.bytesUnderWay
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { clock, keys, keyHeaders, shedding } = this.#options
    if (request.method !== 'POST') {
      this.#mistakes.wrongMethod(request, clock.now())
      this.#answerError(request, response, 'method_not_allowed')
      return
    }
    const key = keyIn(request.headers, keyHeaders)
    const entry = key === undefined ? undefined : keys.find(key)
    const now = clock.now()
    if (entry === undefined) {
      if (key !== undefined && !keys.isCurrent) this.#answerError(request, response, 'unavailable', UNREAD_KEYS)
      else {
        this.#mistakes.withoutSite(request, key, now)
        this.#answerError(request, response, 'unauthorized')
      }
      return
    }
    keys.noteUse(entry, now)
    const { site } = entry
    const end = keys.endOf(entry)
    if (end !== null) {
      this.#rejectKey(request, response, entry, end)
      return
    }
    if (!site.isOpen) {
      this.#recordAndReject(request, response, site, 'forbidden', '')
      return
    }
    const refusal = site.meter.takeRequest(now)
    if (refusal !== undefined) {
      this.#recordAndReject(
        request,
        response,
        site,
        'rate_limited',
        PLAN_LIMITS[refusal.limit],
        refusal.retryAfterSeconds,
      )
      return
    }
    if (!shedding.admits(performance.now())) {
      this.#recordAndReject(request, response, site, 'unavailable', OVERLOAD.requests, OVERLOAD_RETRY_SECONDS)
      return
    }
    if (announcesTooMuch(request.headers['content-length'])) {
      this.#recordAndReject(request, response, site, 'payload_too_large', '')
      return
    }
    this.#bodies.read(
      request,
      site.clientId,
      (body) => this.#accept(request, response, site, body),
      (refusal) => {
        if (refusal.why === 'too_large') this.#recordAndReject(request, response, site, 'payload_too_large', '')
        else {
          const reason = refusal.exhausted === 'all' ? 'unavailable' : 'rate_limited'
          this.#recordAndReject(request, response, site, reason, BYTES_UNDER_WAY, OVERLOAD_RETRY_SECONDS)
        }
      },
    )
  }

  /** Records a request to another address for the site whose key it carries. Other code answers it. */
  noteElsewhere(request: IncomingMessage): void {
    this.#mistakes.wrongAddress(request, this.#options.clock.now())
  }

  #accept(request: IncomingMessage, response: ServerResponse, site: SiteEntry, body: Body): void {
    const { clock, largeBodies } = this.#options
    const { siteNo, clientId } = site
    const refuse = (reason: RejectionReason, path: string, retryAfterSeconds?: number) => {
      body.release()
      this.#recordAndReject(request, response, site, reason, path, retryAfterSeconds)
    }
    const headers = judgeHeaders(request)
    if (!headers.ok) {
      refuse('invalid_payload', headers.path)
      return
    }
    const { idempotencyKey } = headers
    const { size } = body
    if (size <= SMALL_BODY) {
      const judged = judgeBody(textOf(body.bytes()))
      if (!judged.ok) refuse('invalid_payload', judged.path)
      else {
        const { payload, canaries } = judged
        const now = clock.now()
        this.#note(site, canaries, now)
        if (payload === null) this.#answerUncounted(response, body)
        else {
          const sample = this.#options.samples.hasRoomFor(site.siteNo, size) ? knownFieldsOf(payload) : null
          const read = { payload, sample, events: eventsIn(payload), now, idempotencyKey }
          this.#commit(request, response, site, body, read)
        }
      }
      return
    }
    largeBodies.judge(clientId, {
      siteNo,
      size,
      now: () => clock.now(),
      take: () => {
        if (!request.socket.destroyed) return body.bytes()
        body.release()
        return null
      },
      settle: (judged, now) => {
        if (judged === null) refuse('unavailable', OVERLOAD.bodies, OVERLOAD_RETRY_SECONDS)
        else if (!judged.ok) refuse('invalid_payload', judged.path)
        else {
          const { counted, canaries } = judged
          this.#note(site, canaries, now)
          if (counted === null) this.#answerUncounted(response, body)
          else {
            const { entry, sample, events } = counted
            this.#commit(request, response, site, body, { payload: entry, sample, events, now, idempotencyKey })
          }
        }
      },
    })
  }

  #note(site: SiteEntry, canaries: Canaries | null, now: number): void {
    if (canaries !== null) this.#options.canaries.arrived(site, canaries, now)
  }

  /** Nothing in the body is counted: it takes a request from the rate, but nothing from the quota. */
  #answerUncounted(response: ServerResponse, body: Body): void {
    body.release()
    this.answers.ok++
    answerOk(response)
  }

  #commit(request: IncomingMessage, response: ServerResponse, site: SiteEntry, body: Body, read: ReadBody): void {
    const { commits, samples } = this.#options
    const { payload, sample, events, now, idempotencyKey } = read
    const { siteNo, meter } = site
    const refusal = meter.takeEvents(events, now)
    if (refusal !== undefined) {
      body.release()
      this.#recordAndReject(
        request,
        response,
        site,
        'rate_limited',
        PLAN_LIMITS[refusal.limit],
        refusal.retryAfterSeconds,
      )
      return
    }
    const settle: Submission['settle'] = (outcome) => {
      body.release()
      if (outcome === 'committed') meter.settleEvents(events, now)
      else meter.giveBackEvents(events, now)
      if (outcome === 'failed') {
        this.#answerError(request, response, 'internal_error')
        return
      }
      if (outcome === 'refused') {
        this.#recordAndReject(request, response, site, 'unavailable', OVERLOAD.commits, OVERLOAD_RETRY_SECONDS)
        return
      }
      if (outcome === 'committed' && sample !== null) samples.accepted(siteNo, sample, body.size, now)
      this.answers.ok++
      answerOk(response)
    }
    commits.submit({ siteNo, idempotencyKey, bytes: body.size, settle }, payload)
  }

  /**
   * Names the key to the site's owner in a sample, and to the sender in a header, as the sender has the key anyway. The body has
   * only one field.
   */
  #rejectKey(request: IncomingMessage, response: ServerResponse, { site, name }: KeyEntry, { how, at }: KeyEnd): void {
    const { samples, clock } = this.#options
    samples.rejected(site.siteNo, 'forbidden', `key ${how}: ${name}`, clock.now())
    const why = `the key "${headerText(name)}" of this site ${how === 'revoked' ? 'was revoked' : 'expired'} on ${isoTime(at)}`
    this.#answerError(request, response, 'forbidden', { why })
  }

  /** Records the rejection for the site's owner and answers. */
  #recordAndReject(
    request: IncomingMessage,
    response: ServerResponse,
    site: SiteEntry,
    reason: RejectionReason,
    path: string,
    retryAfterSeconds?: number,
  ): void {
    this.#options.samples.rejected(site.siteNo, reason, path, this.#options.clock.now())
    this.#answerError(request, response, reason, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
  }

  /** Answers without recording: the site is unknown, or the store accepts no writes. */
  #answerError(
    request: IncomingMessage,
    response: ServerResponse,
    error: IngestError,
    more: Pick<ErrorAnswer, 'retryAfterSeconds' | 'why'> = {},
  ): void {
    this.answers[error]++
    // A body with a small announced length is read to its end and the connection stays open; otherwise the connection is cut.
    const closing = error === 'payload_too_large' || !hasSmallBody(request)
    answerError(response, error, { closing, ...more })
    if (closing) discardRest(request, response)
  }
}

/** Text as a header may hold it: any other character, and `%`, percent-encoded as UTF-8. */
const headerText = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\x20-\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character))

/** What a body that holds a payload comes to. */
interface ReadBody {
  payload: Payload | EncodedEntry
  /** The payload without unknown fields, or its JSON; null when it is too large to be kept or there is no room for it. */
  sample: Payload | string | null
  events: number
  /** Time of acceptance, epoch ms. */
  now: number
  idempotencyKey: string | undefined
}

/** Length up to which the body of a refused request is read to its end. */
const SHORT_REST = 65_536

function hasSmallBody(request: IncomingMessage): boolean {
  if (request.complete) return true
  const length = request.headers['content-length']
  if (length === undefined) return request.headers['transfer-encoding'] === undefined
  return Number(length) <= SHORT_REST
}
