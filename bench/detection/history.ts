import { clumped, collect, type Presence, type TagHistory, together } from './counts.ts'
import { type Fault, keptShare, shareIn, slotsLater } from './faults.ts'
import { ECOMMERCE, type EventProfile, type Field, type SiteProfile, type TagProfile, USER_DATA } from './profile.ts'
import type { Random } from './random.ts'
import { type Signals, seriesOf, signalsOf } from './signals.ts'
import { levelOf } from './traffic.ts'
import { RUN_EVERY, SLOTS, SLOTS_A_DAY } from './world.ts'

/** Upper bounds as the rollups have them, ms. */
export const BOUNDS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000] as const
const BUCKETS = BOUNDS.length + 1

/**
 * For the data probes that every tag feeds, only for those of volume, as what the others look at takes most of the time, or for those that live on what version 2 of the
 * tag says, which have faults of their own.
 */
export const SCOPES = ['all', 'volume', 'signals'] as const
export type Scope = (typeof SCOPES)[number]

/** Everything a site's rollups would hold, minute by minute. */
export interface SiteHistory {
  site: SiteProfile
  /** In `volume` there are no tags and no fields. */
  scope: Scope
  faults: readonly Fault[]
  /** Page views to be expected, faults left out. */
  level: Float64Array
  events: ReadonlyMap<string, Float64Array>
  total: Float64Array
  tags: readonly TagHistory[]
  /** On each kind of event; of batches, on all of them together under null. */
  presence: ReadonlyMap<string | null, ReadonlyMap<Field, Presence>>
  /** On the events that should carry the field. */
  fields: ReadonlyMap<Field, Presence>
  /** In `signals` only. */
  signals?: Signals
}

export const simulate = (site: SiteProfile, faults: readonly Fault[], random: Random, scope?: Scope): SiteHistory =>
  historyOf(site, faults, trafficOf(site, faults, random), random, scope)

/** The page views that are to be expected in each slot, faults left out, and what came of each event. */
export type Traffic = Pick<SiteHistory, 'level' | 'events'>

function trafficOf(site: SiteProfile, faults: readonly Fault[], random: Random): Traffic {
  const level = levelOf(site, random)
  const events = new Map(
    site.events.map(({ name, share, burst }) => {
      const counts = new Float64Array(SLOTS)
      for (let slot = 0; slot < SLOTS; slot++) {
        const kept = keptShare(faults, name, slot)
        const came = random.bursty((level[slot] ?? 0) * share * Math.min(1, kept), burst)
        counts[slot] = (counts[slot] ?? 0) + came
        const copies = kept > 1 ? copiesOf(came, kept, random) : 0
        for (let copy = 0; copy < copies; copy++) {
          const at = slot + slotsLater(faults, name, slot + random.next(), random)
          if (at < SLOTS) counts[at] = (counts[at] ?? 0) + 1
        }
      }
      return [name, counts] as const
    }),
  )
  return { level, events }
}

/** Each of so many comes again, as often as a factor says. */
const copiesOf = (came: number, factor: number, random: Random): number =>
  came * (Math.floor(factor) - 1) + random.binomial(came, factor % 1)

/** What follows from a site's events: runs of its tags, presence of fields, batches. The events are the same in each scope. */
export function historyOf(
  site: SiteProfile,
  faults: readonly Fault[],
  { level, events }: Traffic,
  random: Random,
  scope: Scope = 'all',
): SiteHistory {
  const total = new Float64Array(SLOTS)
  for (const counts of events.values())
    for (let slot = 0; slot < SLOTS; slot++) total[slot] = (total[slot] ?? 0) + (counts[slot] ?? 0)
  if (scope === 'volume') {
    if (site.batch > 1) collect(site.batch, total, [...events.values()])
    return { site, scope, faults, level, events, total, tags: [], presence: new Map(), fields: new Map() }
  }
  const tags = site.tags.map((tag) => runTag(tag, events, faults, random))
  if (scope === 'signals') {
    const signals = signalsOf(site, events, tags, faults, random)
    if (site.batch > 1) {
      const series = [...events.values(), ...tags.flatMap(tagSeries), ...seriesOf(signals)]
      collect(site.batch, total, series)
    }
    return { site, scope, faults, level, events, total, tags, presence: new Map(), fields: new Map(), signals }
  }
  const ofEvents = new Map(
    site.events.map((event) => [
      event.name,
      new Map(
        FIELDS.map((field) => [
          field,
          presence(site, event, field, events.get(event.name) ?? new Float64Array(SLOTS), faults, random),
        ]),
      ),
    ]),
  )
  const over = (field: Field, of: (event: EventProfile) => boolean): Presence =>
    together(site.events.filter(of).flatMap(({ name }) => ofEvents.get(name)?.get(field) ?? []))
  const fields = new Map(FIELDS.map((field) => [field, over(field, (event) => carries(event, field))]))
  if (site.batch <= 1) return { site, scope, faults, level, events, total, tags, presence: ofEvents, fields }
  const ofAll = new Map(FIELDS.map((field) => [field, over(field, () => true)]))
  collect(site.batch, total, [
    ...events.values(),
    ...tags.flatMap(tagSeries),
    ...[...fields.values(), ...ofAll.values()].flatMap((f) => [f.present, f.total]),
  ])
  return { site, scope, faults, level, events, total, tags, presence: new Map([[null, ofAll]]), fields }
}

const FIELDS: readonly Field[] = [...USER_DATA, ...ECOMMERCE]

const tagSeries = ({ executions, bad, timeouts }: TagHistory): Float64Array[] => [executions, bad, timeouts]

function runTag(
  tag: TagProfile,
  events: ReadonlyMap<string, Float64Array>,
  faults: readonly Fault[],
  random: Random,
): TagHistory {
  const mine = faults.filter((fault) => fault.tag === tag.key)
  const onEvent = new Map(tag.events.map((name) => [name, new Float64Array(SLOTS)] as const))
  const result: TagHistory = {
    tag,
    onEvent,
    executions: new Float64Array(SLOTS),
    bad: new Float64Array(SLOTS),
    timeouts: new Float64Array(SLOTS),
    histogram: new Float64Array((SLOTS / RUN_EVERY) * BUCKETS),
    totalMs: new Float64Array(SLOTS / RUN_EVERY),
  }
  for (let slot = 0; slot < SLOTS; slot++) {
    let failure = tag.failure
    let executions = 0
    const now = mine.filter((fault) => shareIn(fault, slot) > 0)
    for (const fault of now) {
      if (fault.kind === 'tag_failing') failure += shareIn(fault, slot) * fault.size * (1 - failure)
    }
    for (const [name, runs] of onEvent) {
      let coverage = tag.coverage
      for (const fault of now) {
        const isOff = fault.kind === 'tag_dead' || (fault.kind === 'tag_off_event' && fault.event === name)
        if (isOff) coverage *= 1 - shareIn(fault, slot)
      }
      runs[slot] = random.binomial(events.get(name)?.[slot] ?? 0, coverage)
      executions += runs[slot] ?? 0
    }
    result.executions[slot] = executions
    result.bad[slot] = random.binomial(executions, failure)
  }
  timeTag(result, mine, random)
  return result
}

function timeTag(tag: TagHistory, faults: readonly Fault[], random: Random): void {
  for (let slot = 0; slot < SLOTS; slot += RUN_EVERY) {
    const executions = sum(tag.executions.subarray(slot, slot + RUN_EVERY))
    if (executions === 0) continue
    const fault = faults.find(({ kind, from, to }) => kind === 'tag_slow' && slot >= from && slot < to)
    const soon = faults.find(({ kind, from, to }) => kind === 'tag_too_soon' && slot >= from && slot < to)
    timeExecutions(tag, slot / RUN_EVERY, executions, soon?.size ?? tag.tag.medianMs * (fault?.size ?? 1), random)
  }
}

/** Spreads executions over the histogram as a log-normal distribution would. */
function timeExecutions(tag: TagHistory, block: number, executions: number, medianMs: number, random: Random): void {
  const { spread } = tag.tag
  let left = executions
  let below = 0
  for (let bucket = 0; bucket < BUCKETS && left > 0; bucket++) {
    const bound = BOUNDS[bucket]
    const until = bound === undefined ? 1 : normalShare(Math.log(bound / medianMs) / spread)
    const count = bucket === BUCKETS - 1 ? left : random.binomial(left, below < 1 ? (until - below) / (1 - below) : 1)
    tag.histogram[block * BUCKETS + bucket] = count
    left -= count
    below = until
  }
  const mean = medianMs * Math.exp(spread ** 2 / 2)
  const error = Math.sqrt(Math.exp(spread ** 2) - 1) / Math.sqrt(executions)
  tag.totalMs[block] = executions * mean * Math.max(0.3, 1 + error * random.normal())
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0)

/** Share of a normal distribution below z (logistic approximation, off by less than 0.01). */
const normalShare = (z: number): number => 1 / (1 + Math.exp(-1.5976 * z - 0.070565992 * z ** 3))

/**
 * The flags that the tag sends with every event, those without any user data included. Signed-in visitors come in clumps, and more
 * of them in the evening.
 */
function presence(
  site: SiteProfile,
  event: EventProfile,
  field: Field,
  total: Float64Array,
  faults: readonly Fault[],
  random: Random,
): Presence {
  const mine = faults.filter((fault) => fault.field === field)
  const usual = rateOf(site, event, field)
  const present = new Float64Array(SLOTS)
  const isCarrier = carries(event, field)
  for (let slot = 0; slot < SLOTS; slot++) {
    let rate = isCarrier ? usual : usual * (1 - 0.4 * Math.cos((2 * Math.PI * slot) / SLOTS_A_DAY))
    for (const fault of mine) rate *= 1 - shareIn(fault, slot) * (1 - fault.size)
    present[slot] = clumped(random, total[slot] ?? 0, rate, isCarrier ? 1 : (site.pagesAVisit ?? 1))
  }
  return { present, total }
}

const isUserData = (field: Field): boolean => USER_DATA.some((name) => name === field)

const carries = (event: EventProfile, field: Field): boolean =>
  (isUserData(field) ? event.hasUserData : event.hasEcommerce) &&
  (field !== 'transaction_id' || event.name === 'purchase')

const rateOf = (site: SiteProfile, event: EventProfile, field: Field): number =>
  carries(event, field) ? site.fields[field] : isUserData(field) ? (event.signedIn ?? 0) : 0
