import { localTime } from '../../../src/detection/index.ts'
import { DAY } from '../../../src/lib/index.ts'
import { type Fault, type FaultKind, keptShare, slotsLater } from '../faults.ts'
import type { Traffic } from '../history.ts'
import type { Random } from '../random.ts'
import { SLOT, SLOTS, SLOTS_A_DAY, timeOf } from '../world.ts'
import { type Benign, benignLevel } from './benign.ts'
import { LONG_FACTOR, LONG_VISITS, type VisitorSite } from './profile.ts'

const WEEKDAY_OF_EPOCH = 3
const QUARTER = DAY / 96
/** Minutes over which arrivals are mixed with one gamma number. */
const MIXED = 10
/** How fast the level's drift within a day forgets: four hours. */
const DRIFT = Math.exp(-1 / 240)

/**
 * Visitors arrive at a rate that follows the week, the day, the hour and chance: as a Poisson process mixed with gamma
 * numbers (arrivals of sessions are that, not of events: Paxson and Floyd 1995). Each looks at pages with log-normal pauses
 * and may go down the funnel. Half of the faults that take away a part lose visits, half lose single events.
 */
export function visitorTraffic(
  site: VisitorSite,
  benign: readonly Benign[],
  faults: readonly Fault[],
  random: Random,
): Traffic {
  const { journey } = site
  const arrivals = arrivalsOf(site, benign, random)
  const perVisit = journey.pages * (1 + LONG_VISITS * (LONG_FACTOR - 1))
  const level = arrivals.rate.map((rate) => rate * perVisit)
  const rename = benign.find(({ kind }) => kind === 'rename')
  const events = new Map(site.events.map(({ name }) => [name, new Float64Array(SLOTS)] as const))
  if (rename?.renamed !== undefined) events.set(rename.renamed, new Float64Array(SLOTS))
  const byVisit = new Map(faults.map((fault) => [fault, random.chance(0.5) && !ADDING.includes(fault.kind)] as const))
  const inVisit = [...byVisit].filter(([, whole]) => whole).map(([fault]) => fault)
  const inEvents = [...byVisit].filter(([, whole]) => !whole).map(([fault]) => fault)
  const keptAt = keptTable([...events.keys()], inEvents)
  const put = (name: string, time: number, luck: number): void => {
    const slot = Math.floor(time)
    if (slot >= SLOTS) return
    const isRenamed = rename?.event === name && time >= rename.from
    const called = isRenamed ? (rename.renamed ?? name) : name
    if (inVisit.length > 0 && luck >= keptShare(inVisit, called, slot)) return
    const kept = keptAt(called, slot)
    if (kept < 1 && random.next() >= kept) return
    const counts = events.get(called)
    const again = kept > 1 ? Math.floor(kept - 1 + random.next()) : 0
    if (counts === undefined) return
    counts[slot] = (counts[slot] ?? 0) + 1
    for (let copy = 0; copy < again; copy++) {
      const at = slot + slotsLater(inEvents, called, time, random)
      if (at < SLOTS) counts[at] = (counts[at] ?? 0) + 1
    }
  }
  const withPage = [...journey.withPage]
  const [page] = withPage[0] ?? ['page_view']
  for (let slot = 0; slot < SLOTS; slot++) {
    const visits = random.poisson((arrivals.rate[slot] ?? 0) * (arrivals.mixed[slot] ?? 1))
    for (let visit = 0; visit < visits; visit++) {
      const luck = random.next()
      let time = slot + random.next()
      const mean = journey.pages * (random.chance(LONG_VISITS) ? LONG_FACTOR : 1)
      for (let more = true; more; more = random.next() < 1 - 1 / mean) {
        for (const [name, chance] of withPage) if (chance >= 1 || random.next() < chance) put(name, time, luck)
        time += (journey.pause * Math.exp(random.normal())) / 60
      }
      for (const { event, chance } of journey.funnel) {
        if (chance < 1 && random.next() >= chance * (arrivals.interest[slot] ?? 1)) break
        put(event, chance >= 1 ? slot : time, luck)
        time += (journey.pause * Math.exp(random.normal())) / 60
      }
    }
  }
  for (const burst of benign.filter(({ kind }) => kind === 'bots')) {
    for (let slot = Math.floor(burst.from); slot < Math.min(burst.to, SLOTS); slot++) {
      const extra = random.poisson(burst.size * Math.max(0.5, (site.visits * perVisit) / SLOTS_A_DAY))
      for (let hit = 0; hit < extra; hit++) put(page, slot, random.next())
    }
  }
  for (const { kind, from, to } of benign) if (kind === 'backlog') holdBack(events, Math.floor(from), Math.ceil(to))
  return { level, events }
}

/** Faults that add events, of each visit alike. */
const ADDING: readonly FaultKind[] = ['event_doubled', 'transactions_repeat']

/** Most slots have no fault at all. */
function keptTable(names: readonly string[], faults: readonly Fault[]): (name: string, slot: number) => number {
  const some = new Uint8Array(SLOTS)
  for (const { from, to } of faults) some.fill(1, Math.floor(from), Math.ceil(to))
  const tables = new Map(names.map((name) => [name, new Map<number, number>()] as const))
  return (name, slot) => {
    if (some[slot] === 0) return 1
    const table = tables.get(name)
    const known = table?.get(slot)
    if (known !== undefined) return known
    const kept = keptShare(faults, name, slot)
    table?.set(slot, kept)
    return kept
  }
}

function arrivalsOf(site: VisitorSite, benign: readonly Benign[], random: Random) {
  const clock = localTime(site.timezone)
  const rate = new Float64Array(SLOTS)
  const mixed = new Float64Array(SLOTS)
  const interest = new Float64Array(SLOTS)
  let day = 0
  let drift = 0
  let gamma = 1
  let localDay = -1
  for (let slot = 0; slot < SLOTS; slot++) {
    const local = timeOf(slot) + clock.offsetAt(timeOf(slot))
    if (Math.floor(local / DAY) !== localDay) {
      localDay = Math.floor(local / DAY)
      day = site.dayMemory * day + Math.sqrt(1 - site.dayMemory ** 2) * site.dayNoise * random.normal()
    }
    drift = DRIFT * drift + Math.sqrt(1 - DRIFT ** 2) * site.hourNoise * random.normal()
    if (slot % MIXED === 0) gamma = random.gamma(site.gammaShape) / site.gammaShape
    const quarter = Math.floor((local % DAY) / QUARTER)
    const weekday = (Math.floor(local / DAY) + WEEKDAY_OF_EPOCH) % 7
    const special = benignLevel(benign, slot)
    const trend = site.trend ** (slot / SLOTS_A_DAY / 7)
    const isBorn = slot >= site.bornOn * SLOTS_A_DAY
    rate[slot] = isBorn
      ? (site.visits / SLOTS_A_DAY) *
        (site.week[weekday * 96 + quarter] ?? 1) *
        special.visits *
        trend *
        Math.exp(day + drift)
      : 0
    mixed[slot] = gamma
    interest[slot] = special.interest
  }
  return { rate, mixed, interest }
}

/** What came in the slots comes together in the one after them. */
function holdBack(events: ReadonlyMap<string, Float64Array>, from: number, to: number): void {
  for (const counts of events.values()) {
    for (let slot = from; slot < to && to < SLOTS; slot++) {
      counts[to] = (counts[to] ?? 0) + (counts[slot] ?? 0)
      counts[slot] = 0
    }
  }
}

/** The first slot of a local day, counted from the first simulated one. */
export function midnightOf(timezone: string): (day: number) => number {
  const clock = localTime(timezone)
  return (day) => Math.round((clock.instantOf(timeOf(0) + day * DAY) - timeOf(0)) / SLOT)
}
