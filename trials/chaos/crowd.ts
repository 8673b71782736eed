import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient, SiteKey } from '../../testkit/api.ts'
import { Random } from '../../testkit/random.ts'
import { HEALTHY } from './habit.ts'
import { judge, type Seen, type Sent, sumOfVerdicts, type Verdict } from './judgement.ts'
import { sendEvent } from './sender.ts'

/** Sites that are made at once. */
const AT_ONCE = 16
/** Requests under way. */
const SENDERS = 64
const PAUSE_AFTER_FAILURE_MS = 25
const NOTHING: Seen = { events: 0, executions: 0, pairs: 0 }

/** What the database holds of each of a crowd's sites, by id. */
export type CountsBySite = () => Promise<ReadonlyMap<string, Pick<Seen, 'events' | 'executions'>>>

/** Sums of what a crowd was sent. */
export interface CrowdBalance extends Verdict, Pick<Sent, 'acknowledged'> {
  failed: number
}

/**
 * So many sites that a node writes its journal in lanes of them. Each sends an event now and then, at no time the same as another, and must have all that was acknowledged once. They are looked at
 * in the database: reports of thousands of sites take longer than a round.
 */
export class Crowd {
  readonly #url: string
  readonly #accounts: readonly Account[]
  readonly #countsBySite: CountsBySite
  #failed = 0
  #isSending = false
  #senders: Promise<void>[] = []
  readonly #odd: string[] = []

  private constructor(url: string, sites: readonly SiteKey[], countsBySite: CountsBySite) {
    this.#url = url
    this.#accounts = sites.map((site) => ({ site, sent: { acknowledged: 0, unsure: 0 }, seen: NOTHING }))
    this.#countsBySite = countsBySite
  }

  /** Makes the sites, of one more client. */
  static async open(api: ApiClient, size: number, countsBySite: CountsBySite): Promise<Crowd> {
    const client = await api.newClient()
    const sites: SiteKey[] = []
    let begun = 0
    const make = async () => {
      // Counted when it is begun, as others make the next ones meanwhile.
      while (begun < size) sites.push(await api.newSite(client, { name: `crowd ${begun++}` }))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, make))
    return new Crowd(api.url, sites, countsBySite)
  }

  start(seed: number): void {
    this.#isSending = true
    this.#senders = Array.from({ length: SENDERS }, (_, sender) => this.#send(new Random(seed + sender)))
  }

  /** Resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.#isSending = false
    await Promise.all(this.#senders)
  }

  /** Compares with the database, and begins the next round. To be called when nothing is in flight and all is folded. */
  async close(): Promise<CrowdBalance> {
    const counts = await this.#countsBySite()
    let acknowledged = 0
    const verdicts = this.#accounts.map((account) => {
      const { site, sent, seen } = account
      const { events, executions } = counts.get(site.id) ?? NOTHING
      acknowledged += sent.acknowledged
      account.seen = { events, executions, pairs: executions }
      account.sent = { acknowledged: 0, unsure: 0 }
      return judge(`site ${site.id} of the crowd`, sent, seen, account.seen)
    })
    const sum = sumOfVerdicts(verdicts)
    const failed = this.#failed
    this.#failed = 0
    return { ...sum, acknowledged, failed, problems: [...sum.problems, ...this.#odd.splice(0)] }
  }

  async #send(random: Random): Promise<void> {
    while (this.#isSending) {
      const index = random.below(this.#accounts.length)
      const account = this.#accounts[index]
      if (account === undefined) return
      const body = JSON.stringify(HEALTHY.plain.payload(index, Date.now(), random))
      const result = await sendEvent(this.#url, account.site, body)
      if (result === 'acknowledged') {
        account.sent.acknowledged++
        continue
      }
      if (result === 'unsure') {
        account.sent.unsure++
        this.#failed++
      }
      if (typeof result === 'number') this.#odd.push(`a valid request was answered ${result}`)
      await sleep(PAUSE_AFTER_FAILURE_MS)
    }
  }
}

/** A site, what it was sent in this round, and what it had before. */
interface Account {
  readonly site: SiteKey
  sent: Sent
  seen: Seen
}

/** The engines' functions that give packed counts row by row. */
const ROWS_OF = { SQLite: 'json_each', PostgreSQL: 'jsonb_array_elements' } as const

/** Events and executions of the sites, of the minutes: what a crowd sends is of now. Two columns and an id. */
export function countsBySite(engine: keyof typeof ROWS_OF): string {
  const total = (column: 'events' | 'tags', place: number) =>
    `(select sum(cast(c.value ->> ${place} as double precision)) from minute_parts p, ${ROWS_OF[engine]}(p.${column}) c
      where p.site_no = sites.site_no)`
  // After the name, events have their total second and tags their executions fifth.
  return `select sites.id as id, ${total('events', 2)} as events, ${total('tags', 5)} as executions
    from sites where sites.name like 'crowd %'`
}

/** Rows of one lane have numbers within so many, see src/journal/lanes.ts: with another number no round would ever see several lanes, and fail. */
const LANE_SPAN = 2 ** 40
/** Of how many lanes rows wait. */
export const LANES_WAITING = `select count(distinct seq / ${LANE_SPAN}) as value from journal`

/** A row of `countsBySite`; numbers are text to one of the engines. */
export interface CountedSite {
  id: string
  events: string | number | null
  executions: string | number | null
}

export const countsOf = (rows: readonly CountedSite[]): Awaited<ReturnType<CountsBySite>> =>
  new Map(rows.map(({ id, events, executions }) => [id, { events: Number(events), executions: Number(executions) }]))
