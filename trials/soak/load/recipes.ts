import { ingestRequest, KEY_LENGTH, type RequestTemplate } from '../../../bench/lib/request-template.ts'
import { batchBody, EVENTS_PER_BATCH, eventBody, TIME_PLACEHOLDER } from '../../../testkit/payloads.ts'

/** Of a hundred requests, so many are batches of 200 events … */
const BATCHES_OF_100 = 5
/** … and so many, events all of them, carry an `Idempotency-Key`. */
const KEYED_OF_100 = 5

const IDEMPOTENCY_LENGTH = 20
const IDEMPOTENCY_PLACEHOLDER = 'I'.repeat(IDEMPOTENCY_LENGTH)
const TIME_LENGTH = String(TIME_PLACEHOLDER).length

interface Recipe extends RequestTemplate {
  bytes: Buffer
  events: number
  idempotencyOffset: number
}

/** A request that is ready to be sent, and how many events it reports. */
export interface Prepared {
  bytes: Buffer
  site: number
  events: number
}

/** Makes one request after the other: events and batches mixed, for all sites in turn. */
export class Mix {
  readonly #keys: Uint8Array
  readonly #sites: number
  readonly #event = recipe(ingestRequest(eventBody()), 1)
  readonly #keyed = recipe(withIdempotencyKey(ingestRequest(eventBody())), 1)
  readonly #batch = recipe(ingestRequest(batchBody()), EVENTS_PER_BATCH)
  #made = 0
  #time = Buffer.from(String(Date.now()))
  #timeUntil = 0

  /** @param keys the sites' ingest keys, as `packKeys` lays them out */
  constructor(keys: Uint8Array) {
    this.#keys = keys
    this.#sites = keys.length / KEY_LENGTH
  }

  /** @param now of `performance.now()` */
  next(now: number): Prepared {
    const number = this.#made++
    // The sites take turns in rounds; which kind a request is must not depend on whose turn it is.
    const site = number % this.#sites
    const { bytes, keyOffset, timeOffsets, idempotencyOffset, events } = this.#recipe((number * 37) % 101)
    // A copy for each: what a full socket keeps for later must not change meanwhile.
    const copy = Buffer.from(bytes)
    copy.set(this.#keys.subarray(site * KEY_LENGTH, (site + 1) * KEY_LENGTH), keyOffset)
    const time = this.#digits(now)
    for (const offset of timeOffsets) copy.set(time, offset)
    if (idempotencyOffset >= 0) copy.write(String(number).padStart(IDEMPOTENCY_LENGTH, '0'), idempotencyOffset)
    return { bytes: copy, site, events }
  }

  #recipe(kind: number): Recipe {
    if (kind < BATCHES_OF_100) return this.#batch
    return kind < BATCHES_OF_100 + KEYED_OF_100 ? this.#keyed : this.#event
  }

  #digits(now: number): Buffer {
    if (now < this.#timeUntil) return this.#time
    this.#timeUntil = now + 100
    this.#time = Buffer.from(String(Date.now()).slice(0, TIME_LENGTH))
    return this.#time
  }
}

function recipe(template: RequestTemplate, events: number): Recipe {
  const bytes = Buffer.from(template.bytes)
  return { ...template, bytes, events, idempotencyOffset: bytes.indexOf(IDEMPOTENCY_PLACEHOLDER) }
}

/** The same request with a header more, in front of which nothing moves but the body. */
function withIdempotencyKey({ bytes, keyOffset, timeOffsets }: RequestTemplate): RequestTemplate {
  const whole = Buffer.from(bytes)
  const headEnd = whole.indexOf('\r\n\r\n')
  const header = Buffer.from(`\r\nIdempotency-Key: ${IDEMPOTENCY_PLACEHOLDER}`)
  return {
    bytes: Buffer.concat([whole.subarray(0, headEnd), header, whole.subarray(headEnd)]),
    keyOffset,
    timeOffsets: timeOffsets.map((offset) => offset + header.length),
  }
}
