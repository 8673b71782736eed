import { type Fault, keptShare, shareIn } from './faults.ts'
import { ECOMMERCE, type Field, type SiteProfile, type TagProfile, USER_DATA } from './profile.ts'
import type { Random } from './random.ts'
import { levelOf } from './traffic.ts'
import { RUN_EVERY, SLOTS } from './world.ts'

/** Upper bounds as the rollups have them, ms. */
export const BOUNDS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000] as const
const BUCKETS = BOUNDS.length + 1

/** Everything a site's rollups would hold, minute by minute. */
export interface SiteHistory {
  site: SiteProfile
  faults: readonly Fault[]
  /** Page views to be expected, faults left out. */
  level: Float64Array
  events: ReadonlyMap<string, Float64Array>
  total: Float64Array
  tags: readonly TagHistory[]
  fields: ReadonlyMap<Field, { present: Float64Array; total: Float64Array }>
}

export interface TagHistory {
  tag: TagProfile
  /** On each event, for sites that send event by event. */
  onEvent: ReadonlyMap<string, Float64Array>
  executions: Float64Array
  bad: Float64Array
  timeouts: Float64Array
  /** `BUCKETS` numbers for every five minutes. */
  histogram: Float64Array
  /** For every five minutes. */
  totalMs: Float64Array
}

export function simulate(site: SiteProfile, faults: readonly Fault[], random: Random): SiteHistory {
  const level = levelOf(site, random)
  const events = new Map(
    site.events.map(({ name, share, burst }) => {
      const counts = new Float64Array(SLOTS)
      for (let slot = 0; slot < SLOTS; slot++) {
        counts[slot] = random.bursty((level[slot] ?? 0) * share * keptShare(faults, name, slot), burst)
      }
      return [name, counts] as const
    }),
  )
  const total = new Float64Array(SLOTS)
  for (const counts of events.values())
    for (let slot = 0; slot < SLOTS; slot++) total[slot] = (total[slot] ?? 0) + (counts[slot] ?? 0)
  const tags = site.tags.map((tag) => runTag(tag, events, faults, random))
  const fields = new Map(
    [...USER_DATA, ...ECOMMERCE].map((field) => [field, presence(site, field, events, faults, random)] as const),
  )
  if (site.batch > 1)
    collect(site.batch, total, [
      ...events.values(),
      ...tags.flatMap(tagSeries),
      ...[...fields.values()].flatMap((f) => [f.present, f.total]),
    ])
  return { site, faults, level, events, total, tags, fields }
}

const tagSeries = ({ executions, bad, timeouts }: TagHistory): Float64Array[] => [executions, bad, timeouts]

/** Moves counts into the slot in which their batch is full; what is over waits for the next. */
function collect(size: number, total: Float64Array, series: readonly Float64Array[]): void {
  let waiting = 0
  let from = 0
  for (let slot = 0; slot < total.length; slot++) {
    waiting += total[slot] ?? 0
    total[slot] = Math.floor(waiting / size) * size
    if (waiting < size) continue
    waiting %= size
    for (const counts of series) {
      let sum = 0
      for (let at = from; at <= slot; at++) {
        sum += counts[at] ?? 0
        counts[at] = 0
      }
      counts[slot] = sum
    }
    from = slot + 1
  }
}

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
    timeExecutions(tag, slot / RUN_EVERY, executions, tag.tag.medianMs * (fault?.size ?? 1), random)
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

function presence(
  site: SiteProfile,
  field: Field,
  events: ReadonlyMap<string, Float64Array>,
  faults: readonly Fault[],
  random: Random,
) {
  const mine = faults.filter((fault) => fault.field === field)
  const isUserData = USER_DATA.some((name) => name === field)
  const carriers = site.events
    .filter((event) => (isUserData ? event.hasUserData : event.hasEcommerce))
    .filter(({ name }) => field !== 'transaction_id' || name === 'purchase')
  const [present, total] = [new Float64Array(SLOTS), new Float64Array(SLOTS)]
  for (let slot = 0; slot < SLOTS; slot++) {
    let rate = site.fields[field]
    for (const fault of mine) rate *= 1 - shareIn(fault, slot) * (1 - fault.size)
    for (const { name } of carriers) total[slot] = (total[slot] ?? 0) + (events.get(name)?.[slot] ?? 0)
    present[slot] = random.binomial(total[slot] ?? 0, rate)
  }
  return { present, total }
}
