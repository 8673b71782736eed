import fc from 'fast-check'
import type { Random } from '../../../testkit/random.ts'
import { payloads } from '../../../testkit/random-payloads.ts'
import { chunked, type Message } from '../wire/message.ts'
import { contentHeaders, headerText, hostileHeaders } from './headers.ts'
import { brokenJson } from './json.ts'
import type { HostileValues } from './values.ts'

type Payload = ReturnType<typeof payloads> extends fc.Arbitrary<(infer P)[]> ? P : never

const DAY = 86_400_000
const POOL_RUNS = 100
const DRAWS_PER_POOL = 50_000

/** A submission, and what the service has to count when it answers 200. */
export interface Submission {
  message: Message
  /** Events of one payload in the per-event mode; null when it cannot be said. */
  counts: number | null
}

/** Submissions of the tag, valid ones of both modes with places broken, and with content where only flags belong. */
export class IngestAttack {
  readonly #random: Random
  readonly #hostile: HostileValues
  readonly #canary: string
  #pool: Payload[] = []
  #draws = DRAWS_PER_POOL

  /** @param canary a text that is sent only where nothing may be kept of it */
  constructor(random: Random, hostile: HostileValues, canary: string) {
    this.#random = random
    this.#hostile = hostile
    this.#canary = canary
  }

  /** @param keyOf gives the key for a submission of one event, and for any other */
  next(keyOf: (isOneEvent: boolean) => string): Submission {
    const random = this.#random
    const payload = this.#payload()
    const withContent = random.chance(0.5) ? this.#withContent(payload) : payload
    const body = brokenJson(random, this.#hostile, withContent)
    const events = eventsIn(body)
    const hasIdempotency = random.chance(0.1)
    const headers: [string, string][] = [
      ['Host', '127.0.0.1'],
      ['X-Service-Key', keyOf(events !== null && !hasIdempotency)],
      ...contentHeaders(random),
      ...(random.chance(0.1) ? this.#tellingHeaders() : []),
      ...(random.chance(0.1) ? hostileHeaders(random, this.#hostile) : []),
    ]
    if (hasIdempotency)
      headers.push(['Idempotency-Key', headerText(random.chance(0.5) ? this.#hostile.text() : 'again')])
    const target = `${random.pick(['/ingest', '/api/ingest'])}${random.chance(0.05) ? `?token=${this.#canary}` : ''}`
    const message: Message = { method: 'POST', target, headers, body }
    if (random.chance(0.1)) {
      message.body = chunked(body, () => random.below(200))
      headers.push(['Transfer-Encoding', 'chunked'])
    }
    return { message, counts: hasIdempotency ? null : events }
  }

  #payload(): Payload {
    if (this.#draws++ >= DRAWS_PER_POOL) {
      this.#draws = 0
      const options = { seed: this.#random.below(2 ** 31), numRuns: POOL_RUNS }
      this.#pool = fc.sample(payloads(Date.now() - 2 * DAY, Date.now() + DAY), options).flat()
    }
    const [first] = this.#pool
    const payload = this.#random.anyOf(this.#pool) ?? first
    if (payload === undefined) throw new Error('fast-check made no payload')
    return payload
  }

  /** As a tag would that is wired up wrongly: the address itself where `has_email` belongs. */
  #withContent(payload: Payload): object {
    const random = this.#random
    const canary = `${this.#canary}@mail.invalid`
    const unknown = { email: canary, [this.#canary]: canary, nested: { deep: [canary] } }
    const part = random.pick(['user_data', 'ecommerce', 'consent', 'user_data_quality', 'ecommerce_quality'])
    const flags: unknown = Object.getOwnPropertyDescriptor(payload, part)?.value
    const field = random.pick(['has_email', 'has_value', 'email', 'value', 'total', 'address', 'ad_storage'])
    switch (random.below(5)) {
      case 0:
        return { ...payload, ...unknown }
      case 1:
        return { ...payload, [part]: { ...(typeof flags === 'object' ? flags : {}), ...unknown } }
      case 2:
        return { ...payload, [part]: { ...(typeof flags === 'object' ? flags : {}), [field]: canary } }
      case 3:
        return 'tags' in payload ? { ...payload, tags: payload.tags.map((tag) => ({ ...tag, ...unknown })) } : payload
      default:
        return { ...payload, [part]: canary }
    }
  }

  #tellingHeaders(): [string, string][] {
    const name = this.#random.pick(['Cookie', 'User-Agent', 'Referer', 'X-Forwarded-For', 'Authorization', 'X-Email'])
    return [[name, this.#canary]]
  }
}

/** Events that one may stand for. */
const MOST_WEIGHT = 1_000

/** As the service reads it: whatever it makes of odd JSON, what is no batch counts as many events as it says to stand for. Null: a batch. */
function eventsIn(body: Buffer): number | null {
  try {
    // A byte order mark in front is read past.
    const value: unknown = JSON.parse(body.toString().replace(/^\uFEFF/, ''))
    if (typeof value !== 'object' || value === null || ('batch' in value && value.batch === true)) return null
    const weight = 'weight' in value ? value.weight : 1
    // Any other is refused: one of -1e21 whose answer is lost must not become part of what may have been counted.
    return typeof weight === 'number' && Number.isInteger(weight) && weight >= 1 && weight <= MOST_WEIGHT ? weight : 0
  } catch {
    return 1
  }
}
