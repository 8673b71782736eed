import { identitiesOf, sumsBySite, totals } from '../analytics/index.ts'
import {
  besideRest,
  chanceOf,
  countChange,
  LEAST_NOISE,
  type Runs,
  shareChange,
  USUAL_NOISE,
  type WeekChange,
} from '../detection/index.ts'
import { HOUR } from '../lib/index.ts'
import { pausedIn, readPauses } from '../management/index.ts'
import { isNamed, type TimeRange } from '../rollups/index.ts'
import type { SiteRow, Store } from '../store/index.ts'
import type { ComparedHours } from './weeks.ts'

export type ComparedSite = Pick<SiteRow, 'site_no' | 'id' | 'client_id' | 'created_at'>

/**
 * `events`: all events of the site. `event`: those of one name. `tag_runs`, `tag_failures`: how often a tag ran, and which share
 * of the runs failed.
 */
export const CHANGE_KINDS = ['events', 'event', 'tag_runs', 'tag_failures'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** One value of a site in both windows, which may have changed. */
export interface Candidate {
  siteNo: number
  kind: ChangeKind
  /** The event or the tag; null for the whole site. */
  name: string | null
  /** `bad` is 0 in kinds that only count. */
  now: Runs
  before: Runs
  /** The count to expect after the week before, see `besideRest`. */
  expected: number
}

export interface SiteCandidates {
  /** How many values were compared; 0 for a site that is too young, was paused, or sent nothing in either window. */
  looked: number
  candidates: readonly Candidate[]
}

/** How far a candidate is from what is expected; null if that is too little to matter. */
export const measured = (
  { kind, now, before, expected }: Candidate,
  noise: Readonly<Record<'level' | 'share', number>>,
): WeekChange | null =>
  kind === 'tag_failures' ? shareChange(now, before, noise.share) : countChange(now.runs, expected, noise.level)

/** With the noise assumed where nothing is known, in standard deviations. */
export const distanceOf = (candidate: Candidate): number => Math.abs(measured(candidate, USUAL_NOISE)?.deviations ?? 0)

/** Only what is less likely than this to be noise, at the least noise there is, is measured against its own past. */
const UNLIKELY = 0.001
/** The most candidates of one site: one where everything changed needs no more to say so. */
const MOST_OF_A_SITE = 20

const EVENT_MEASURES = totals(['total', 'events'] as const)
const TAG_MEASURES = totals(['executions', 'failure', 'timeout', 'exception'] as const)

/**
 * What is not as it was a week before, by `site_no`. Four statements for all sites (and four more for each further stretch of
 * hours), reading hour rows except for hours that are not rolled up yet. A site that did not exist the week before, or was paused
 * in one of the windows, has nothing to compare.
 */
export async function candidatesOf(
  { reports }: Pick<Store, 'reports'>,
  sites: readonly ComparedSite[],
  hours: ComparedHours,
): Promise<Map<number, SiteCandidates>> {
  const siteNos = sites.map(({ site_no }) => site_no)
  const read = await reports.transaction().execute(async (db) => {
    const eventsOf = (range: TimeRange) => sumsBySite(db, 'event_rollups', siteNos, range, EVENT_MEASURES, 'event_name')
    const tagsOf = (range: TimeRange) => sumsBySite(db, 'tag_rollups', siteNos, range, TAG_MEASURES, 'tag_key')
    return {
      identities: await identitiesOf(db, siteNos),
      events: { now: await rowsOf(hours.now, eventsOf), before: await rowsOf(hours.before, eventsOf) },
      tags: { now: await rowsOf(hours.now, tagsOf), before: await rowsOf(hours.before, tagsOf) },
    }
  })
  const events = { now: bySite(read.events.now), before: bySite(read.events.before) }
  const tags = { now: bySite(read.tags.now), before: bySite(read.tags.before) }
  const comparedFrom = hours.before[0]?.from ?? Number.NEGATIVE_INFINITY
  const found = new Map(
    sites.map(({ site_no, created_at }): [number, SiteCandidates] => {
      if (created_at > comparedFrom) return [site_no, NOTHING]
      const ofEvents = { now: eventsIn(events.now.get(site_no)), before: eventsIn(events.before.get(site_no)) }
      const keyOf = (key: string) => read.identities.get(site_no)?.resolve(key) ?? key
      const ofTags = { now: tagsIn(tags.now.get(site_no), keyOf), before: tagsIn(tags.before.get(site_no), keyOf) }
      const all = comparisonsOf(site_no, ofEvents, ofTags)
      return [site_no, { looked: all.length, candidates: unlikely(all) }]
    }),
  )
  for (const site of sites) {
    const isChanged = (found.get(site.site_no)?.candidates.length ?? 0) > 0
    if (isChanged && (await wasPaused(reports, site, hours))) found.set(site.site_no, NOTHING)
  }
  return found
}

/** In a shorter pause no change arises that is worth a line. */
export const MOST_PAUSED_MS = HOUR

async function wasPaused(db: Store['reports'], site: ComparedSite, hours: ComparedHours): Promise<boolean> {
  const windows = [hours.now, hours.before]
  const all = windows.flat()
  const [from, to] = [Math.min(...all.map((one) => one.from)), Math.max(...all.map((one) => one.to))]
  const pauses = await readPauses(db, site, from, to)
  return windows.some(
    (stretches) => stretches.reduce((sum, stretch) => sum + pausedIn(pauses, stretch), 0) > MOST_PAUSED_MS,
  )
}

async function rowsOf<R>(stretches: readonly TimeRange[], read: (range: TimeRange) => Promise<R[]>): Promise<R[]> {
  let rows: R[] = []
  for (const stretch of stretches) rows = rows.concat(await read(stretch))
  return rows
}

const NOTHING: SiteCandidates = { looked: 0, candidates: [] }

const bySite = <R extends { site_no: number }>(rows: readonly R[]): Map<number, R[]> =>
  Map.groupBy(rows, ({ site_no }) => site_no)

interface Pair<T> {
  now: T
  before: T
}
interface EventsOf {
  total: number
  byName: ReadonlyMap<string, number>
}

function eventsIn(rows: readonly { key: string; total: number; events: number }[] = []): EventsOf {
  const byName = new Map<string, number>()
  for (const { key, events } of rows) if (isNamed(key)) byName.set(key, (byName.get(key) ?? 0) + events)
  return { total: rows.reduce((sum, { total }) => sum + total, 0), byName }
}

type TagRow = { key: string } & Record<keyof typeof TAG_MEASURES, number>

function tagsIn(rows: readonly TagRow[] = [], keyOf: (key: string) => string): Map<string, Runs> {
  const byTag = new Map<string, Runs>()
  for (const { key, executions, failure, timeout, exception } of rows) {
    if (!isNamed(key)) continue
    const sum = byTag.get(keyOf(key)) ?? NONE
    byTag.set(keyOf(key), { runs: sum.runs + executions, bad: sum.bad + failure + timeout + exception })
  }
  return byTag
}

const NONE: Runs = { runs: 0, bad: 0 }

/** Everything of a site that can be compared. */
function comparisonsOf(siteNo: number, events: Pair<EventsOf>, tags: Pair<ReadonlyMap<string, Runs>>): Candidate[] {
  const counted = (count: number): Runs => ({ runs: count, bad: 0 })
  const total = { now: events.now.total, before: events.before.total }
  const whole: Candidate = {
    siteNo,
    kind: 'events',
    name: null,
    now: counted(total.now),
    before: counted(total.before),
    expected: total.before,
  }
  // When a site began to send or stopped, everything changed: reported once, as a whole.
  if (total.now === 0 && total.before === 0) return []
  if (total.now === 0 || total.before === 0) return [whole]
  const names = new Set([...events.now.byName.keys(), ...events.before.byName.keys()])
  const ofEvents = Array.from(names, (name): Candidate => {
    const [now, before] = [events.now.byName.get(name) ?? 0, events.before.byName.get(name) ?? 0]
    // What is most of its site is compared with the whole: the small rest says nothing about it.
    const isMost = 2 * before > total.before
    const rest = isMost ? total : { now: total.now - now, before: total.before - before }
    const expected = besideRest(before, rest)
    return { siteNo, kind: 'event', name, now: counted(now), before: counted(before), expected }
  })
  const keys = new Set([...tags.now.keys(), ...tags.before.keys()])
  const ofTags = Array.from(keys).flatMap((name): Candidate[] => {
    const [now, before] = [tags.now.get(name) ?? NONE, tags.before.get(name) ?? NONE]
    const both = { siteNo, name, now, before, expected: besideRest(before.runs, total) }
    return [
      { ...both, kind: 'tag_runs' },
      { ...both, kind: 'tag_failures' },
    ]
  })
  return [whole, ...ofEvents, ...ofTags]
}

function unlikely(all: readonly Candidate[]): Candidate[] {
  return all
    .filter((candidate) => chanceOf(measured(candidate, LEAST_NOISE)?.deviations ?? 0) < UNLIKELY)
    .sort((a, b) => distanceOf(b) - distanceOf(a))
    .slice(0, MOST_OF_A_SITE)
}
