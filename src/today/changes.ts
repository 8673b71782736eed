import { identitiesOf, type ReportContext, readSnapshot, sumStretches } from '../analytics/index.ts'
import { isLongOutage, readOutages } from '../cluster/index.ts'
import { chanceOf, levelNoise, type Runs, shareNoise, significant } from '../detection/index.ts'
import { ceilTo, DAY, floorTo, Mutex, number, percent } from '../lib/index.ts'
import { pausedIn, readPauses } from '../management/index.ts'
import { GRAIN, hourRowsFrom, type TimeRange } from '../rollups/index.ts'
import {
  type Candidate,
  type ComparedSite,
  candidatesOf,
  distanceOf,
  MOST_PAUSED_MS,
  measured,
  type SiteCandidates,
} from './candidates.ts'
import { type ComparedHours, comparedHours, type Weeks } from './weeks.ts'

/** What differs from the week before, by more than it usually varies. */
export interface Change extends Candidate {
  /** In standard deviations; negative: there is less than expected. */
  deviations: number
  /** One standard deviation, in the unit of the value. */
  usual: number
  /** Probability of a difference this large by chance alone, 0–1. */
  chance: number
}

interface ChangesReport extends Weeks {
  /** How many sites were compared; the others are younger than a week, were paused, sent nothing, or there was no time for them. */
  compared: number
  /** False if there was no time for all sites; the next call continues where this one stopped. */
  isComplete: boolean
  /** Hours of each window that are not compared, as Tagwarden was down in them or a week before. */
  leftOut: number
  /** Least likely first. */
  entries: Change[]
}

/** Sites per snapshot, so that none keeps a reader busy for too long. */
const SITES_PER_READ = 50
/** How many candidates of all sites are measured against their own past, farthest from usual first. */
const MOST_MEASURED = 60
const MOST_SHOWN = 20
const PAST_DAYS = 28

interface Noise {
  level: number
  share: number
}

/**
 * What changed at many sites against the week before. What was read is kept for as long as the same hours are asked for: each
 * site is read once an hour, however many people look.
 */
export class Changes {
  readonly #context: ReportContext
  /** One caller reads at a time: the next one finds the results. */
  readonly #turn = new Mutex()
  #key = ''
  readonly #sites = new Map<number, SiteCandidates>()
  readonly #noises = new Map<string, Noise>()

  constructor(context: ReportContext) {
    this.#context = context
  }

  /** @param patienceMs after this no more sites are read; those read so far are kept for the next call */
  of(sites: readonly ComparedSite[], weeks: Weeks, patienceMs = Number.POSITIVE_INFINITY): Promise<ChangesReport> {
    return this.#turn.run(async () => {
      const hours = await this.#begin(weeks)
      const endsAt = performance.now() + patienceMs
      const earliest = hourRowsFrom(this.#context.clock.now(), this.#context.retention)
      const isKept = weeks.before.from >= earliest
      if (isKept) await this.#read(sites, hours, endsAt)
      const known = isKept ? sites.filter(({ site_no }) => (this.#sites.get(site_no)?.looked ?? 0) > 0) : []
      const found = known.map(({ site_no }) => this.#sites.get(site_no) ?? { looked: 0, candidates: [] })
      const looked = found.reduce((sum, site) => sum + site.looked, 0)
      const farthest = farthestOf(found.flatMap(({ candidates }) => candidates))
      await this.#learn(known, farthest, weeks, endsAt)
      const isRead = !isKept || sites.every(({ site_no }) => this.#sites.has(site_no))
      const isComplete = isRead && farthest.every((candidate) => this.#noises.has(nameOf(candidate)))
      const entries = this.#significant(farthest, looked)
      return { ...weeks, compared: known.length, isComplete, leftOut: hours.leftOut, entries }
    })
  }

  /** An outage becomes known only once it is over: what was read before that is read again. */
  async #begin(weeks: Weeks): Promise<ComparedHours> {
    const { now, before } = weeks
    const { read } = this.#context.store
    const outages = [
      ...(await readOutages(read, before.from, before.to)),
      ...(await readOutages(read, now.from, now.to)),
    ]
    const hours = comparedHours(weeks, outages.filter(isLongOutage))
    const key = JSON.stringify([hours, now, before])
    if (key !== this.#key) {
      this.#key = key
      this.#sites.clear()
      this.#noises.clear()
    }
    return hours
  }

  async #read(sites: readonly ComparedSite[], hours: ComparedHours, endsAt: number): Promise<void> {
    const missing = sites.filter(({ site_no }) => !this.#sites.has(site_no))
    for (let start = 0; start < missing.length && performance.now() < endsAt; start += SITES_PER_READ) {
      const part = missing.slice(start, start + SITES_PER_READ)
      for (const [siteNo, found] of await candidatesOf(this.#context.store, part, hours)) this.#sites.set(siteNo, found)
    }
  }

  /** Reads the candidates' past, site by site. Candidates that there is no time for are left out of the report. */
  async #learn(
    sites: readonly ComparedSite[],
    candidates: readonly Candidate[],
    weeks: Weeks,
    endsAt: number,
  ): Promise<void> {
    const unknown = candidates.filter((candidate) => !this.#noises.has(nameOf(candidate)))
    const byNumber = new Map(sites.map((site) => [site.site_no, site]))
    for (const [siteNo, ofSite] of Map.groupBy(unknown, (candidate) => candidate.siteNo)) {
      const site = byNumber.get(siteNo)
      if (site === undefined || performance.now() >= endsAt) continue
      const past = await pastOf(this.#context, site, weeks)
      for (const candidate of ofSite) {
        const days = past(candidate)
        const level = levelNoise(days.map((day) => day?.runs ?? null))
        this.#noises.set(nameOf(candidate), { level, share: shareNoise(days) })
      }
    }
  }

  #significant(candidates: readonly Candidate[], looked: number): Change[] {
    const changes = candidates.flatMap((candidate): Change[] => {
      const noise = this.#noises.get(nameOf(candidate))
      const change = noise === undefined ? null : measured(candidate, noise)
      return change === null ? [] : [{ ...candidate, ...change, chance: chanceOf(change.deviations) }]
    })
    changes.sort((a, b) => Math.abs(b.deviations) - Math.abs(a.deviations))
    const count = significant(
      changes.map(({ chance }) => chance),
      looked,
    )
    return changes.slice(0, Math.min(count, MOST_SHOWN))
  }
}

const nameOf = ({ siteNo, kind, name }: Candidate): string => `${siteNo} ${kind} ${name ?? ''}`

/** Measured once each, as sorting compares a candidate many times. */
const farthestOf = (candidates: readonly Candidate[]): Candidate[] =>
  candidates
    .map((candidate) => ({ candidate, distance: distanceOf(candidate) }))
    .sort((a, b) => b.distance - a.distance)
    .slice(0, MOST_MEASURED)
    .map(({ candidate }) => candidate)

const EVENTS = ['total', 'events'] as const
const RUNS = ['executions', 'failure', 'timeout', 'exception'] as const

/**
 * A site's values on the UTC days of the four weeks before, oldest first; null for days on which it was paused or Tagwarden was
 * down, which say nothing about what is usual. Reads day rows, which are a few thousand however much
 * the site sends.
 */
async function pastOf(
  context: ReportContext,
  site: ComparedSite,
  { now }: Weeks,
): Promise<(candidate: Candidate) => (Runs | null)[]> {
  const to = floorTo(now.from, DAY)
  const earliest = Math.max(ceilTo(site.created_at, DAY), hourRowsFrom(context.clock.now(), context.retention))
  const range: TimeRange = { from: Math.max(to - PAST_DAYS * DAY, earliest), to }
  if (range.from >= to) return () => []
  const stretches = [{ ...range, coarsest: GRAIN.day }]
  const slots = { length: DAY, end: to }
  const read = await readSnapshot(context.store, site.site_no, range, async (snapshot) => ({
    identities: await identitiesOf(snapshot.db, [site.site_no]),
    gaps: [
      ...(await readPauses(snapshot.db, site, range.from, range.to)),
      ...(await readOutages(snapshot.db, range.from, range.to)),
    ],
    events: await sumStretches(snapshot, {
      table: 'event_rollups',
      stretches,
      by: ['event_name'],
      columns: EVENTS,
      slots,
    }),
    tags: await sumStretches(snapshot, { table: 'tag_rollups', stretches, by: ['tag_key'], columns: RUNS, slots }),
  }))
  // A renamed tag keeps the past of its older names; otherwise it would seem to come from nothing, and its noise would be out of
  // all proportion.
  const keyOf = (key: string) => read.identities.get(site.site_no)?.resolve(key) ?? key
  const dayOf = (at: number) => Math.floor((at - range.from) / DAY)
  const count = (to - range.from) / DAY
  return ({ kind, name }) => {
    const days = Array.from({ length: count }, (): Runs => ({ runs: 0, bad: 0 }))
    const add = (at: number, runs: number, bad: number) => {
      const day = days[dayOf(at)]
      if (day === undefined) return
      day.runs += runs
      day.bad += bad
    }
    if (kind === 'events') for (const row of read.events) add(row.at, row.total, 0)
    else if (kind === 'event') for (const row of read.events) if (row.event_name === name) add(row.at, row.events, 0)
    if (kind === 'tag_runs' || kind === 'tag_failures') {
      for (const row of read.tags) {
        if (keyOf(row.tag_key) === name) add(row.at, row.executions, row.failure + row.timeout + row.exception)
      }
    }
    return days.map((day, index) => {
      const from = range.from + index * DAY
      return pausedIn(read.gaps, { from, to: from + DAY }) > MOST_PAUSED_MS ? null : day
    })
  }
}

/**
 * A change in words:
 * - `purchase: 640, a week before 1,290 (−50 %, usually ±8 %)`
 * - `Meta CAPI fails: 31 % of 1,284 runs, a week before 0.4 % (usually ±1.2 points)`
 */
export function changeInWords({ kind, name, now, before, expected, usual }: Change): string {
  if (kind === 'tag_failures') {
    const points = number(100 * usual)
    return `${name} fails: ${percent(shareOf(now))} of ${number(now.runs)} runs, a week before ${percent(shareOf(before))} (usually ±${points} points)`
  }
  const what = kind === 'events' ? 'All events' : kind === 'event' ? name : `${name} runs`
  if (before.runs === 0) return `${what}: ${number(now.runs)}, none a week before`
  const difference = now.runs / before.runs - 1
  const change = `${difference < 0 ? '−' : '+'}${percent(Math.abs(difference))}`
  // As a share of the expected count, which follows the rest of the site.
  return `${what}: ${number(now.runs)}, a week before ${number(before.runs)} (${change}, usually ±${percent(usual / Math.max(1, expected))})`
}

/** At most 1: a malicious sender's batches may count more failures than runs. */
export const shareOf = ({ runs, bad }: Change['now']): number => (runs === 0 ? 0 : Math.min(1, bad / runs))
