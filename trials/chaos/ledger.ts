import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { Random } from '../../testkit/random.ts'
import { until } from '../../testkit/until.ts'
import type { Habit } from './habit.ts'
import { judge, type Seen, type Sent, sumOfVerdicts, type Verdict } from './judgement.ts'
import { type SendResult, sendEvent } from './sender.ts'

/** An event may be late by a day; an hour is left for clocks and for the round itself. */
const LATEST_MS = 22 * HOUR
const LATE_SHARE = 0.5
const PAUSE_AFTER_FAILURE_MS = 25
const PATIENCE_MS = 90_000
/** Share of a keyed sender's requests that repeat an acknowledged one: they must be acknowledged and not counted, whatever broke meanwhile. */
const REPEAT_SHARE = 0.25
/** Acknowledged requests of a site that may be repeated, from earlier rounds too. */
const REPEATABLE = 200

export interface LedgerSite extends SiteKey {
  habit: Habit
}

/** A request with a key. */
interface Keyed {
  body: string
  key: string
}

/** The sums of a round. */
export interface Balance extends Verdict, Pick<Sent, 'acknowledged'> {
  /** Requests that were answered by an error or not at all, those with a key included. */
  failed: number
  /** Acknowledged requests that were sent once more, and acknowledged again. */
  repeated: number
}

export interface LedgerOptions {
  url: string
  sites: readonly LedgerSite[]
  /** Part of the idempotency keys: no two ledgers on one service may share it. */
  name: string
  /** What the reports of a site show. */
  look: (site: LedgerSite) => Promise<Seen>
}

/** Books what was sent and how it was answered, and says afterwards whether the reports show the same. */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #accounts: Account[]
  readonly #odd: string[] = []
  #senders: Promise<void>[] = []
  #isSending = false
  #isAbandoned = false
  #acknowledged = 0
  /** Requests that were answered by an error or not at all, those with a key included. */
  #failed = 0
  #repeated = 0
  #requests = 0
  #random = new Random(0)

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#accounts = options.sites.map((site) => new Account(site))
  }

  /** Requests that were acknowledged so far. */
  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Starts the senders of each site, which send one request after the other. */
  start(random: Random): void {
    this.#random = random
    this.#isSending = true
    this.#senders = this.#accounts.flatMap((account) =>
      Array.from({ length: account.site.habit.senders }, () => this.#send(account)),
    )
  }

  async untilAcknowledged(more: number): Promise<void> {
    const end = this.#acknowledged + more
    await until(`${more} more acknowledged`, () => (this.#acknowledged >= end ? true : undefined), PATIENCE_MS)
  }

  /**
   * Resolves when nothing is in flight and everything with a key has been acknowledged. Then each site repeats one of them: chance may
   * have chosen none in a short round, and what was acknowledged before the fault must be known after it.
   */
  async stop(): Promise<void> {
    this.#isSending = false
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const tooLong = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('requests with a key are not acknowledged any more')))
    })
    await Promise.race([Promise.all(this.#senders), tooLong])
    for (const account of this.#accounts) await this.#repeat(account)
  }

  /** For when the service has failed permanently: whatever is not acknowledged is given up. */
  abandon(): void {
    this.#isSending = false
    this.#isAbandoned = true
  }

  /** How it stands, for messages. */
  state(): string {
    const sent = this.#accounts.map(({ sent: { acknowledged, unsure } }) => `${acknowledged}+${unsure}`)
    return `acknowledged+unsure by site: ${sent.join(' ')}; not expected: ${this.#odd.slice(0, 5).join(', ') || 'nothing'}`
  }

  /** Sends one request beside the senders. */
  async probe(): Promise<boolean> {
    const account = this.#accounts.find(({ site }) => site.habit.manner === 'plain')
    if (account === undefined) throw new Error('the ledger has no site for plain requests')
    return (await this.#sendOnce(account)) === 'acknowledged'
  }

  /** Compares with the reports, and begins the next round. To be called when nothing is in flight and all is folded. */
  async close(): Promise<Balance> {
    const failed = this.#failed
    const repeated = this.#repeated
    this.#failed = 0
    this.#repeated = 0
    let acknowledged = 0
    const verdicts: Verdict[] = []
    for (const account of this.#accounts) {
      acknowledged += account.sent.acknowledged
      verdicts.push(account.close(await this.#options.look(account.site)))
    }
    const sum = sumOfVerdicts(verdicts)
    return { ...sum, acknowledged, failed, repeated, problems: [...sum.problems, ...this.#odd.splice(0)] }
  }

  async #send(account: Account): Promise<void> {
    const { manner, pauseMs, mostPerRound } = account.site.habit
    while (this.#isSending && account.begun < mostPerRound) {
      account.begun++
      if (manner === 'plain') await this.#pauseAfter(await this.#sendOnce(account))
      else await this.#sendKeyed(account, manner === 'twins' ? 2 : 1)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }

  async #sendKeyed(account: Account, copies: number): Promise<void> {
    if (this.#random.chance(REPEAT_SHARE) && (await this.#repeat(account))) return
    const keyed = { body: this.#bodyFor(account), key: `${this.#options.name}-${this.#requests}` }
    const answers = await Promise.all(Array.from({ length: copies }, () => this.#untilAcknowledged(account, keyed)))
    if (!answers.includes(true)) return
    this.#acknowledge(account)
    account.done(keyed)
  }

  /** Sends one again that was acknowledged. False when there is none. */
  async #repeat(account: Account): Promise<boolean> {
    const done = account.anyDone(this.#random)
    if (done === undefined) return false
    const result = await this.#request(account, done.body, done.key)
    if (result === 'acknowledged') this.#repeated++
    await this.#pauseAfter(result)
    return true
  }

  /** False when it was given up. */
  async #untilAcknowledged(account: Account, { body, key }: Keyed): Promise<boolean> {
    while (!this.#isAbandoned) {
      const result = await this.#request(account, body, key)
      if (result === 'acknowledged') return true
      await this.#pauseAfter(result)
    }
    return false
  }

  async #sendOnce(account: Account): Promise<SendResult> {
    const result = await this.#request(account, this.#bodyFor(account))
    if (result === 'acknowledged') this.#acknowledge(account)
    if (result === 'unsure') account.sent.unsure++
    return result
  }

  #bodyFor({ site: { habit } }: Account): string {
    return JSON.stringify(habit.payload(this.#requests++, timeOfEvent(this.#random), this.#random))
  }

  #acknowledge(account: Account): void {
    account.sent.acknowledged++
    this.#acknowledged++
  }

  async #request(account: Account, body: string, key?: string): Promise<SendResult> {
    const result = await sendEvent(this.#options.url, account.site, body, key)
    if (result === 'unsure') this.#failed++
    if (typeof result === 'number') this.#odd.push(`a valid request was answered ${result}`)
    return result
  }

  async #pauseAfter(result: SendResult): Promise<void> {
    if (result !== 'acknowledged') await sleep(PAUSE_AFTER_FAILURE_MS)
  }
}

/** A site and what was sent to it since the last comparison. */
class Account {
  readonly site: LedgerSite
  sent: Sent = { acknowledged: 0, unsure: 0 }
  /** Requests of this round's senders. */
  begun = 0
  #seen: Seen = { events: 0, executions: 0, pairs: 0 }
  readonly #done: Keyed[] = []

  constructor(site: LedgerSite) {
    this.site = site
  }

  /** A request with a key was acknowledged. */
  done(keyed: Keyed): void {
    this.#done.push(keyed)
    if (this.#done.length > REPEATABLE) this.#done.shift()
  }

  anyDone(random: Random): Keyed | undefined {
    return this.#done[Math.floor(random.between(0, this.#done.length))]
  }

  close(seen: Seen): Verdict {
    const { site, sent } = this
    const verdict = judge(`${site.habit.manner} site ${site.id}`, sent, this.#seen, seen)
    this.#seen = seen
    this.sent = { acknowledged: 0, unsure: 0 }
    this.begun = 0
    return verdict
  }
}

/** Half of the events are late, so that roll-up always has hours to derive again. */
function timeOfEvent(random: Random): number {
  const now = Date.now()
  return random.chance(LATE_SHARE) ? now - MINUTE - Math.floor(random.between(0, LATEST_MS)) : now
}
