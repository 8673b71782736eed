import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY, isoTime } from '../../src/lib/index.ts'
import { type ApiClient, apiClient } from '../../testkit/api.ts'
import { isReady, type ServerProcess } from '../../testkit/processes/server-process.ts'
import { Random } from '../../testkit/random.ts'
import { type CountsBySite, Crowd, type CrowdBalance } from './crowd.ts'
import { type Habit, HEALTHY } from './habit.ts'
import { type Seen, sumOfVerdicts } from './judgement.ts'
import { type Balance, Ledger, type LedgerSite } from './ledger.ts'
import { untilSettled } from './settle.ts'

/** Plain ones first and last: whatever else there is, a fold has sites of theirs before and after it. */
const SITES: readonly Habit[] = [
  ...new Array<Habit>(4).fill(HEALTHY.plain),
  ...new Array<Habit>(3).fill(HEALTHY.keyed),
  ...new Array<Habit>(3).fill(HEALTHY.twins),
  ...new Array<Habit>(2).fill(HEALTHY.plain),
]
const POLL_MS = 20
const STATE_TIMEOUT_MS = 3_000
const METRICS_SHOWN = /^tagwarden_(ingest|commits|submissions|fold|loop)/

export interface SceneOptions {
  program: ServerProcess
  /** Whether nothing waits to be folded, and no session is at work in the database, as the database itself reports. */
  isSettled: () => Promise<boolean>
  /** Events that all clients have used of their quotas in all months, asked of the database itself. */
  usage: () => Promise<number>
  /** Sites of one more client each, in the midst of the others. */
  others?: readonly Habit[] | undefined
  /** So many sites of one more client, that are asked of the database itself. */
  crowd?: { size: number; countsBySite: CountsBySite } | undefined
}

/** A running service, the sites on it, and the ledger of what they are sent. */
export class Scene {
  readonly program: ServerProcess
  readonly ledger: Ledger
  readonly #isSettled: () => Promise<boolean>
  readonly #usage: () => Promise<number>
  readonly #crowd: Crowd | null
  #used = 0

  private constructor({ program, isSettled, usage }: SceneOptions, ledger: Ledger, crowd: Crowd | null) {
    this.program = program
    this.#crowd = crowd
    this.#isSettled = isSettled
    this.#usage = usage
    this.ledger = ledger
  }

  /** Starts the program and makes its sites. */
  static async open(options: SceneOptions): Promise<Scene> {
    const { program } = options
    await program.start()
    const api = apiClient(program.url)
    const client = await api.newClient()
    const sites: LedgerSite[] = []
    const addSite = async (owner: { id: string }, habit: Habit) => {
      sites.push({ ...(await api.newSite(owner, { name: `site ${sites.length}` })), habit })
    }
    // A fold goes by their numbers, and commits in between.
    const others = options.others ?? []
    for (const [index, habit] of SITES.entries()) {
      await addSite(client, habit)
      const other = others[index - 1]
      if (other !== undefined) await addSite(await api.newClient(), other)
    }
    const ledger = new Ledger({ url: program.url, sites, name: randomUUID(), look: (site) => lookAt(api, site) })
    const crowd =
      options.crowd === undefined ? null : await Crowd.open(api, options.crowd.size, options.crowd.countsBySite)
    return new Scene(options, ledger, crowd)
  }

  /** Starts all senders. */
  start(random: Random): void {
    const seed = () => Math.floor(random.between(0, 1e9))
    this.ledger.start(new Random(seed()))
    this.#crowd?.start(seed())
  }

  /** Resolves when nothing is in flight and everything with a key has been acknowledged. */
  async stop(): Promise<void> {
    await Promise.all([this.ledger.stop(), this.#crowd?.stop()])
  }

  /** Resolves with the milliseconds from `since` until a new request is acknowledged and /ready says 200. */
  async recovery(since: number): Promise<number> {
    const answers = async (ask: () => Promise<boolean>) => {
      while (!(await ask())) {
        if (!this.program.isRunning) throw new Error(`the program has ended:\n${this.program.state()}`)
        await sleep(POLL_MS)
      }
    }
    await Promise.all([answers(() => this.ledger.probe()), answers(() => isReady(this.program.url))])
    return performance.now() - since
  }

  /** How the service stands, for messages. */
  async state(): Promise<string> {
    const ask = (path: string) =>
      fetch(this.program.url + path, { signal: AbortSignal.timeout(STATE_TIMEOUT_MS) }).then(
        (response) => response.text(),
        (thrown) => String(thrown),
      )
    const metrics = (await ask('/metrics')).split('\n').filter((line) => METRICS_SHOWN.test(line))
    return [this.ledger.state(), this.program.state(), `/ready: ${await ask('/ready')}`, ...metrics].join('\n')
  }

  /** Resolves when all that was committed is in the reports. Nothing may be in flight. */
  settle(): Promise<void> {
    return untilSettled({ isSettled: this.#isSettled, nudge: () => this.ledger.probe() })
  }

  /** Closes the ledger, and compares the quotas with the reports. Everything must have settled. */
  async close(): Promise<Balance> {
    const [balance, ofCrowd] = [await this.ledger.close(), await this.#crowd?.close()]
    const all = ofCrowd === undefined ? balance : together(balance, ofCrowd)
    const used = await this.#usage()
    const counted = all.acknowledged + all.landed + all.twice - all.lost
    const problems = [...all.problems]
    if (used - this.#used !== counted) {
      problems.push(`reports grew by ${counted}, but what counts towards quotas by ${used - this.#used}`)
    }
    this.#used = used
    return { ...all, problems }
  }
}

const together = (ledger: Balance, crowd: CrowdBalance): Balance => ({
  ...sumOfVerdicts([ledger, crowd]),
  acknowledged: ledger.acknowledged + crowd.acknowledged,
  failed: ledger.failed + crowd.failed,
  repeated: ledger.repeated,
})

/** A month and the day that an event may be late. */
const REACH_MS = 33 * DAY

/** Far enough to both sides for late events, and for those that a clock that had jumped was given. */
const range = (): string => {
  const now = Date.now()
  return `from=${isoTime(now - REACH_MS)}&to=${isoTime(now + REACH_MS)}`
}

async function lookAt(api: ApiClient, site: LedgerSite): Promise<Seen> {
  const report = async <T>(name: string): Promise<T> => {
    const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/${name}?${range()}`)
    if (answer.status !== 200) throw new Error(`the report ${name} answered ${answer.status}: ${answer.text}`)
    return answer.json<T>()
  }
  const overview = await report<{ total_events: number; tags: { executions: number }[] }>('overview')
  const matrix = await report<{ cells: { executions: number }[] }>('matrix')
  const { tags } = site.habit
  return {
    events: overview.total_events,
    executions: sum(overview.tags) / tags,
    pairs: sum(matrix.cells) / tags,
  }
}

const sum = (rows: readonly { executions: number }[]): number =>
  rows.reduce((total, { executions }) => total + executions, 0)
