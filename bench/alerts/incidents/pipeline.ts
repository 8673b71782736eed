import { followVendors, judgeResults, runUpkeep } from '../../../src/alerts/index.ts'
import { firstIdAt, MINUTE, newOrderedId } from '../../../src/lib/index.ts'
import { BRIEF } from '../../../src/notifications/index.ts'
import { OutboundError } from '../../../src/outbound/index.ts'
import { type Finished, finishedOf, OwnConnection, type ProbeOutcome } from '../../../src/probes/index.ts'
import type { ProbeRow, SiteRow, Store } from '../../../src/store/index.ts'
import { TestClock } from '../../../testkit/clock.ts'

/** A run that is to be judged. */
export interface TimedRun {
  at: number
  probeId: string
  outcome: ProbeOutcome
}

export interface Watched {
  store: Store
  probes: ReadonlyMap<string, { probe: ProbeRow; site: SiteRow }>
  /** In the order of time. */
  runs: readonly TimedRun[]
  /** When new versions are seen, in the order of time. */
  releases: readonly { at: number; siteId: string }[]
  /** When our own connection is away. */
  isAway: (at: number) => boolean
}

/** Everyone is reached at once, and no one wants to be reminded. */
export const CHANNELS = {
  globalWebhook: 'https://hooks.slack.com/services/T0/B0/all',
  isEmailOn: false,
  warningsAfterMs: 30 * MINUTE,
}

/** How often what follows from time is done: the program does so every two seconds. */
const UPKEEP_MS = 5 * MINUTE
const REFERENCE = 'https://reference.example/'
const FINE: ProbeOutcome = { status: 'ok', message: 'answered', details: {} }

/**
 * Takes the results of probes through the program's own alerts and incidents, on a store of its own, minute by minute of a virtual
 * clock. What people would get is in the outbox afterwards. Returns how often people were notified that our own connection was away.
 */
export async function follow(watched: Watched): Promise<number> {
  const steps = Map.groupBy(watched.runs, ({ at }) => Math.floor(at / MINUTE))
  const first = Math.min(...steps.keys())
  const last = Math.max(...steps.keys())
  const pass = new Pass(watched)
  for (let minute = first; minute <= last; minute++) await pass.step((minute + 1) * MINUTE, steps.get(minute) ?? [])
  return pass.outages
}

class Pass {
  outages = 0
  readonly #watched: Watched
  readonly #clock = new TestClock(0)
  readonly #connection: OwnConnection
  readonly #rows: Map<string, ProbeRow>
  #releases: Watched['releases']
  /** Probes with alerts that last. */
  #open = new Set<string>()
  #upkeepAt = 0
  #isDoubted = false

  constructor(watched: Watched) {
    this.#watched = watched
    this.#releases = watched.releases
    this.#rows = new Map(Array.from(watched.probes, ([id, { probe }]) => [id, probe]))
    const { isAway } = watched
    const request = async () => {
      if (isAway(this.#clock.now())) throw new OutboundError('dns', 'no way')
      return REFERENCE_ANSWER
    }
    const never = () => Promise.reject(new Error('nothing else is asked'))
    this.#connection = new OwnConnection({
      references: [REFERENCE],
      outbound: { request, fetchBytes: never, resolve: never },
      clock: this.#clock,
      onError: (error) => {
        throw error
      },
    })
  }

  async step(now: number, runs: readonly TimedRun[]): Promise<void> {
    const { store, isAway } = this.#watched
    const began = now - MINUTE
    this.#clock.set(began)
    await this.#noteReleases(now)
    // Some probe of some site runs in every minute.
    if (!isAway(began)) await this.#connection.judge(FINE, { beganAt: began, isUnanswered: false })
    await this.#connection.loop.tick()
    this.#noteDoubt()
    const finished: Finished[] = []
    for (const run of runs) {
      const one = await this.#finish(run)
      if (one !== null) finished.push(one)
    }
    this.#clock.set(now)
    const isDue = now - this.#upkeepAt >= UPKEEP_MS && this.#open.size > 0
    if (finished.length === 0 && !isDue) return
    // What was due in earlier minutes has long been sent.
    await store.write
      .updateTable('deliveries')
      .set(({ eb }) => ({
        state: eb.case().when('kind', '=', BRIEF.kind).then('cancelled').else('delivered').end(),
        last_error: eb.case().when('kind', '=', BRIEF.kind).then(BRIEF.reason).else(null).end(),
      }))
      .where('state', '=', 'pending')
      .where('not_before', '<', now)
      .execute()
    if (finished.length > 0) {
      await store.write.transaction().execute((trx) => judgeResults(trx, store, finished, CHANNELS, this.#clock))
    }
    if (isDue) {
      await runUpkeep(store, CHANNELS, this.#clock, () => true)
      this.#upkeepAt = now
    }
    await followVendors(store, CHANNELS, { now: () => now })
    const open = await store.read
      .selectFrom('alerts')
      .select('probe_id')
      .distinct()
      .where('state', '<>', 'resolved')
      .where('id', '>=', firstIdAt(0))
      .execute()
    this.#open = new Set(open.map(({ probe_id }) => probe_id))
  }

  /** Null of a run that can change nothing: it found nothing bad, and nothing was. */
  async #finish({ at, probeId, outcome }: TimedRun): Promise<Finished | null> {
    const known = this.#watched.probes.get(probeId)
    const probe = this.#rows.get(probeId)
    if (known === undefined || probe === undefined) throw new Error(`no probe ${probeId}`)
    const isUnanswered = outcome.isNetworkFailure === true
    this.#clock.set(at)
    const judged = isUnanswered ? await this.#connection.judge(outcome, { beganAt: at, isUnanswered }) : outcome
    const finished = finishedOf(probe, known.site, { outcome: judged, attempts: 1, executedAt: at })
    const { recentStatuses: recent_statuses, subjectStatuses: subject_statuses } = finished
    this.#rows.set(probeId, { ...probe, recent_statuses, subject_statuses })
    const isBad = finished.status === 'error' || (finished.subjects?.length ?? 0) > 0
    return isBad || this.#open.has(probeId) ? finished : null
  }

  #noteDoubt(): void {
    const isDoubted = this.#connection.doubt !== null
    if (isDoubted && !this.#isDoubted) this.outages++
    this.#isDoubted = isDoubted
  }

  async #noteReleases(now: number): Promise<void> {
    for (let next = this.#releases[0]; next !== undefined && next.at <= now; next = this.#releases[0]) {
      const { at, siteId: site_id } = next
      const version = { source: 'server container', from_version: '1', to_version: '2', details: '{}' }
      await this.#watched.store.write
        .insertInto('deploy_markers')
        .values({ site_id, id: newOrderedId(at), at, ...version })
        .execute()
      this.#releases = this.#releases.slice(1)
    }
  }
}

const REFERENCE_ANSWER = {
  url: REFERENCE,
  status: 204,
  headers: {},
  isTruncated: false,
  redirects: [],
  location: null,
  timings: { dns: null, connect: null, tls: null, firstByte: null, total: 1 },
  certificate: null,
  body: '',
}
