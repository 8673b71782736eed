import { followVendors, judgeResults } from '../../alerts/index.ts'
import { type Clock, HOUR, SECOND } from '../../lib/index.ts'
import {
  claimAfterwards,
  type Finished,
  finishedOf,
  type Run,
  type RunTools,
  runProbe,
  writeResults,
} from '../../probes/index.ts'
import type { TimeRange } from '../../rollups/index.ts'
import type { ProbeRow, Store } from '../../store/index.ts'
import type { Update } from '../progress.ts'
import { BetweenReleases, LookAhead } from './look-ahead.ts'
import { OWN_CHAT_ONLY, type PersonAction } from './people.ts'
import { type DemoHistory, type DemoProbe, isOfReleases, nextRunIn, REGISTRY, stretchesOf } from './probes.ts'

/** Runs within this time are made together and written in one transaction, but never two of the same probe. */
const BATCH_MS = HOUR

/** A clock that its owner sets. */
export class SetClock implements Clock {
  time: number

  constructor(time: number) {
    this.time = time
  }

  now(): number {
    return this.time
  }
}

export interface ReplayOptions {
  /** The node that runs the probes. */
  nodeId: string
  probes: readonly DemoProbe[]
  history: DemoHistory
  actions: readonly PersonAction[]
  /** The actor's name for the audit log. */
  actor: string
  tools: Omit<RunTools, 'clock'>
  /** Set to the current time of the replay. */
  clock: SetClock
  /** Sends the messages that are due. */
  deliver: () => Promise<void>
}

interface Watched extends DemoProbe {
  stretches: readonly TimeRange[]
  /** Time of its next run, epoch ms. */
  dueAt: number
  /** Runs it as of a time, epoch ms. */
  runAt: (at: number) => Promise<Run>
}

/** Estimated number of runs; the real one is higher, because a probe that finds a fault runs until it is over. */
export const plannedRuns = (probes: readonly DemoProbe[], history: DemoHistory): number =>
  probes
    .flatMap((probe) => stretchesOf(probe, history).map(({ from, to }) => (to - from) / probe.row.interval_seconds))
    .reduce((sum, runs) => sum + runs / SECOND, 0)

/**
 * Runs the probes over the history as if they had existed: each at its own time, on the counts of that time. Alerts, deploy markers
 * and messages are made by the same code as in the service.
 *
 * @param update receives the number of runs made so far
 * @returns the number of results written
 */
export async function replay(options: ReplayOptions, update: Update): Promise<number> {
  const { clock, tools, actor, history } = options
  const watched = options.probes.filter(({ row }) => row.is_active === 1).map((probe) => watch(options, probe))
  const actions = [...options.actions]
  let results = 0
  for (;;) {
    const at = Math.min(...watched.map(({ dueAt }) => dueAt))
    const [action] = actions
    if (action !== undefined && action.at <= at) {
      clock.time = action.at
      await action.do({ store: tools.store, clock, actor })
      actions.shift()
      await deliverInTime(options)
    } else if (at >= history.to) {
      return results
    } else {
      clock.time = at
      results += await runBatch(options, watched, endOfBatch(at, history, action?.at))
      update(results)
    }
  }
}

/**
 * The end of a batch that begins at `at`, epoch ms: before the next action of a person, and before the next release, because the tag
 * server answers all runs of a batch as of its beginning.
 */
export function endOfBatch(at: number, { releases, to }: Pick<DemoHistory, 'releases' | 'to'>, actionAt = to): number {
  const published = releases.find((release) => release.at > at)?.at ?? to
  return Math.min(at + BATCH_MS, actionAt, published, to)
}

/** Sends the messages just written, each at its `not_before`. */
async function deliverInTime({ tools: { store }, clock, deliver }: ReplayOptions): Promise<void> {
  const waiting = await store.read
    .selectFrom('deliveries')
    .select('not_before')
    .distinct()
    .where('state', '=', 'pending')
    .where('attempts', '=', 0)
    .orderBy('not_before')
    .execute()
  for (const { not_before } of waiting) {
    clock.time = Math.max(clock.time, not_before)
    await deliver()
  }
}

interface Ran {
  watched: Watched
  at: number
  finished: Finished
}

/** Runs the probes that are due before `end`, epoch ms. */
async function runBatch(options: ReplayOptions, watched: readonly Watched[], end: number): Promise<number> {
  const due = dueOnce(watched, end)
  const ran = await Promise.all(due.map((one) => run(options, one)))
  const judgedAt = await write(options, ran)
  // The service does this every two seconds; without results nothing would change.
  if (judgedAt !== undefined) {
    await followVendors(options.tools.store, OWN_CHAT_ONLY, { now: () => judgedAt })
    await deliverInTime(options)
  }
  await reload(options.tools.store, ran)
  return ran.length
}

/** The probes due before `end` and before any of them is due again, in order of time. */
function dueOnce(watched: readonly Watched[], end: number): Watched[] {
  const due: Watched[] = []
  let until = end
  for (const one of watched.toSorted((a, b) => a.dueAt - b.dueAt)) {
    if (one.dueAt >= until) break
    until = Math.min(until, one.dueAt + one.row.interval_seconds * SECOND)
    due.push(one)
  }
  return due
}

async function run({ nodeId, clock }: ReplayOptions, watched: Watched): Promise<Ran> {
  const { row, site, dueAt: at } = watched
  const probe: ProbeRow = { ...row, claimed_by: nodeId, claimed_at: clock.time }
  return { watched, at, finished: finishedOf(probe, site.row, await watched.runAt(at)) }
}

function watch({ tools, history, clock }: ReplayOptions, probe: DemoProbe): Watched {
  const type = REGISTRY.get(probe.row.probe_type)
  const make = async (at: number): Promise<Run> => {
    const made = await runProbe({ ...tools, clock: { now: () => at } }, type, watched.row, watched.site.row, NEVER)
    if (made === undefined) throw new Error('a run was cancelled that cannot be cancelled')
    return made
  }
  const stretches = stretchesOf(probe, history)
  const watched: Watched = { ...probe, stretches, dueAt: nextRunIn(stretches, probe.row), runAt: make }
  if (isOfReleases(probe.row)) {
    const ofSite = history.releases.filter(({ site }) => site === probe.site.profile)
    const runs = new BetweenReleases(
      make,
      ofSite.map(({ at }) => at),
    )
    watched.runAt = (at) => runs.at(at, clock.now())
  }
  if (type?.kind !== 'data') return watched
  const lookAhead = new LookAhead(make, probe.row.interval_seconds * SECOND)
  const endOf = (at: number) => stretches.find(({ from, to }) => from <= at && at < to)?.to ?? at
  watched.runAt = (at) => lookAhead.at(at, endOf(at))
  return watched
}

const NEVER = new AbortController().signal

/**
 * Writes uneventful results together, and those that may change an alert one by one, at their own time and in order.
 *
 * @returns when the last eventful result was judged, epoch ms
 */
async function write(
  { tools: { store }, nodeId, clock }: ReplayOptions,
  ran: readonly Ran[],
): Promise<number | undefined> {
  const isUneventful = ({ watched, finished }: Ran) =>
    finished.status === 'ok' && (watched.row.last_status ?? 'ok') === 'ok'
  const [uneventful, eventful] = [ran.filter(isUneventful), ran.filter((one) => !isUneventful(one))]
  await store.write.transaction().execute(async (trx) => {
    const ids = ran.map(({ watched }) => watched.row.id)
    await claimAfterwards(trx, nodeId, ids, clock.time)
    for (const group of [uneventful, ...eventful.map((one) => [one])]) {
      const at = group.at(-1)?.at
      if (at === undefined) continue
      const written = await writeResults(
        trx,
        nodeId,
        group.map(({ finished }) => finished),
        at,
      )
      await judgeResults(trx, store, written, OWN_CHAT_ONLY, { now: () => at })
    }
  })
  return eventful.at(-1)?.at
}

async function reload({ read }: Store, ran: readonly Ran[]): Promise<void> {
  const ids = ran.map(({ watched }) => watched.row.id)
  const rows = await read.selectFrom('probes').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { watched } of ran) {
    watched.row = byId.get(watched.row.id) ?? watched.row
    watched.dueAt = nextRunIn(watched.stretches, watched.row)
  }
}
