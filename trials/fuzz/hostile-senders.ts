import type { ApiClient, SiteKey } from '../../testkit/api.ts'
import type { Random } from '../../testkit/random.ts'
import { type HostileKind, hostileKinds } from '../fairness/kinds.ts'
import type { HttpAnswer } from './wire/answers.ts'
import { toBytes } from './wire/message.ts'
import type { Shot } from './wire/pipeline.ts'
import { newAccount } from './witness.ts'

/** A body whose fields are valid, and what it counts for. */
interface Content {
  kind: string
  body: string
  events: number
  /** By rule, for what it costs to read. */
  isRefused: boolean
}

const KEYED_SHARE = 0.2
/** Of those with an `Idempotency-Key`: sent before under the same one. */
const AGAIN_SHARE = 0.3
const REMEMBERED = 50
/** A few megabytes show what they cost; more would only keep the attacker busy. */
const LARGE = /1 MB/
const LARGE_SHARE = 0.02
/** What one empty batch once put into reports and not into the quota. Thousands of them stay below 2^53. */
const ENORMOUS = 285_000_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Up to far more than a sender may be late or ahead; such a batch counts for now. */
const SHIFTS = [-23 * HOUR, -48 * HOUR, -9_600 * HOUR, 4 * MINUTE, 24 * HOUR, 9_600 * HOUR] as const
/** Just below the 20,000 that are refused. */
const OBJECTS = 19_000
/** Just below the 64 levels that are refused. */
const LEVELS = 60

type Draw = (number: number, random: Random) => Content

const content = (kind: string, payload: object, events = 1): Content => ({
  kind,
  body: JSON.stringify(payload),
  events,
  isRefused: false,
})

const event = (rest: object) => ({
  container_id: 'GTM-HOSTILE',
  event_name: 'page_view',
  timestamp_ms: Date.now(),
  tags: [],
  ...rest,
})

const draws: readonly Draw[] = [
  (number, random) => {
    const at = Date.now() + random.pick(SHIFTS)
    const total_events = 1 + random.below(ENORMOUS)
    const batch = { container_id: `GTM-X${number}`, batch: true, window_start_ms: at, window_end_ms: at, total_events }
    return content('empty batches of enormous totals', batch, total_events)
  },
  () => content('19,000 empty objects', event({ x: Array.from({ length: OBJECTS }, () => ({})) })),
  () => content('60 levels', event({ x: JSON.parse('['.repeat(LEVELS) + ']'.repeat(LEVELS)) })),
  ...hostileKinds.filter(({ name }) => !LARGE.test(name)).map(drawOf),
]
const largeDraws: readonly Draw[] = hostileKinds.filter(({ name }) => LARGE.test(name)).map(drawOf)

function drawOf({ name, body, events, isRefused }: HostileKind): Draw {
  return (number, random) => ({ kind: name, body: body(number, random), events, isRefused: isRefused === true })
}

/**
 * Senders with a valid key whose payloads are valid and whose content is made to hurt: those of the fairness trial, and
 * some that would use up their plan there. They are a client of their own, so that its reports and its usage can both be
 * compared with what was acknowledged, and their bytes under way are not those of the healthy ones.
 */
export class HostileSenders {
  readonly account = newAccount()
  /** Answers 200 of each kind. */
  readonly accepted = new Map<string, number>()
  readonly site: SiteKey
  readonly #random: Random
  readonly #keyed: { key: string; content: Content }[] = []
  /** Keys whose events are in the account: they count once, however often they are sent. */
  readonly #countedKeys = new Set<string>()
  #number = 0

  constructor(site: SiteKey, random: Random) {
    this.site = site
    this.#random = random
  }

  /** @param judge called with each answer, and with what is wrong with its status, if anything is */
  shot(judge: (bytes: Buffer, answer: HttpAnswer, fault: string | null) => void): Shot {
    const { content, key } = this.#next()
    const headers: [string, string][] = [
      ['Host', '127.0.0.1'],
      ['Content-Type', 'application/json'],
      ['X-Service-Key', this.site.ingest_key],
      ...(key === null ? [] : [['Idempotency-Key', key] satisfies [string, string]]),
    ]
    const bytes = toBytes({ method: 'POST', target: '/ingest', headers, body: Buffer.from(content.body) })
    return {
      bytes,
      isHead: false,
      onAnswer: (answer) => {
        judge(bytes, answer, statusFault(answer, content))
        if (answer.status === 200) this.#acknowledged(content, key)
      },
      onUncertain: () => {
        this.account.uncertain += content.events
      },
    }
  }

  /** Compares what its client has used of its plan with what was acknowledged. @returns what is wrong, or null */
  async usageFault(api: ApiClient): Promise<string | null> {
    const { client_id } = await api.ask<{ client_id: string }>('GET', `/api/sites/${this.site.id}`)
    const { history } = await api.ask<{ history: { events: number }[] }>('GET', `/api/clients/${client_id}/usage`)
    const used = history.reduce((sum, { events }) => sum + events, 0)
    const { acknowledged, uncertain } = this.account
    if (used >= acknowledged && used <= acknowledged + uncertain) return null
    return `${acknowledged} events were acknowledged and ${uncertain} may have been, but ${used} are charged`
  }

  #next(): { content: Content; key: string | null } {
    const random = this.#random
    const isKeyed = random.chance(KEYED_SHARE)
    const again = isKeyed && random.chance(AGAIN_SHARE) ? random.anyOf(this.#keyed) : undefined
    if (again !== undefined) return again
    const number = this.#number++
    const draw = random.anyOf(random.chance(LARGE_SHARE) ? largeDraws : draws)
    if (draw === undefined) throw new Error('there is no hostile sender')
    const content = draw(number, random)
    if (!isKeyed) return { content, key: null }
    const keyed = { content, key: `key-${number}-${random.below(2 ** 32)}` }
    if (this.#keyed.length === REMEMBERED) this.#keyed.shift()
    this.#keyed.push(keyed)
    return keyed
  }

  #acknowledged({ kind, events }: Content, key: string | null): void {
    this.accepted.set(kind, (this.accepted.get(kind) ?? 0) + 1)
    if (key !== null) {
      if (this.#countedKeys.has(key)) return
      this.#countedKeys.add(key)
    }
    this.account.acknowledged += events
  }
}

/** Valid is taken, or there is no room for it now; what costs too much to read is refused as invalid, never taken. */
function statusFault({ status }: HttpAnswer, { kind, isRefused }: Content): string | null {
  if (status === 429 || status === 503) return null
  return status === (isRefused ? 400 : 200) ? null : `${kind}: answered ${status}`
}
