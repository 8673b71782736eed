import type { ConsentField } from '../../src/detection/index.ts'
import { clumped, type Presence, type TagHistory, together } from './counts.ts'
import { DUPLICATE_FIELDS, type Fault, IDENTIFIER_FIELDS, type SignalField, shareIn, VALUE_FIELDS } from './faults.ts'
import type { SiteProfile } from './profile.ts'
import type { Random } from './random.ts'
import { DAYS, SLOTS, SLOTS_A_DAY } from './world.ts'

/** Tags that run after consent only. */
const CONSENT_TAGS = ['Meta', 'Ads conversion'] as const

/** What version 2 of the tag says beside its flags, minute by minute. */
export interface Signals {
  /** Of each kind of event; of batches, of all of them together under null. */
  readonly presence: ReadonlyMap<string | null, ReadonlyMap<SignalField, Presence>>
  readonly consent: ReadonlyMap<ConsentField, Presence>
  readonly tags: readonly TagSignals[]
}

export interface TagSignals {
  readonly key: string
  /** Executions on events that reported consent, and on those that denied it. */
  readonly consented: Float64Array
  readonly denied: Float64Array
  /** Executions that the vendor took, and those that it refused with 4xx. */
  readonly taken: Float64Array
  readonly refused: Float64Array
}

/** How a site's visitors are, drawn once. */
interface Habits {
  readonly rates: Readonly<Record<SignalField, number>>
  readonly signal: number
  readonly choice: number
  readonly granted: number
  /** Of tags: executions on denied events that slip through, and refusals of the vendor. */
  readonly slips: number
  readonly refused: number
  /** Factor of the rates that visitors bring, by day: campaigns and weekends bring others. */
  readonly days: Float64Array
  /** Factor of clicks on ads, by day. */
  readonly paid: Float64Array
}

function habitsOf(random: Random): Habits {
  const paid = new Float64Array(DAYS + 1).fill(1)
  for (let left = random.poisson(3); left > 0; left--) {
    const from = Math.floor(random.between(0, DAYS))
    paid.fill(random.between(1.5, 3), from, from + Math.ceil(random.between(1, 6)))
  }
  return {
    rates: {
      client_id: random.between(0.9, 1),
      fbp: random.between(0.35, 0.85),
      fbc: random.between(0.03, 0.2),
      click_id: random.between(0.03, 0.3),
      ip: 1,
      user_agent: random.between(0.998, 1),
      event_id: random.between(0.97, 1),
      value_zero: random.between(0, 0.03),
      value_invalid: random.between(0, 0.003),
      currency_invalid: random.between(0, 0.001),
      items_empty: random.between(0, 0.02),
      transaction_duplicate: random.between(0, 0.015),
    },
    signal: random.between(0.93, 1),
    choice: random.between(0.5, 0.9),
    granted: random.between(0.3, 0.75),
    slips: random.between(0, 0.03),
    refused: random.logBetween(0.0003, 0.012),
    days: Float64Array.from({ length: DAYS + 1 }, () => Math.exp(0.08 * random.normal())),
    paid,
  }
}

/** Visitors of the evening are others than those of the morning. */
const evening = (slot: number): number => 1 - 0.15 * Math.cos((2 * Math.PI * slot) / SLOTS_A_DAY)
const dayOf = (slot: number): number => Math.floor(slot / SLOTS_A_DAY)

export function signalsOf(
  site: SiteProfile,
  events: ReadonlyMap<string, Float64Array>,
  tags: readonly TagHistory[],
  faults: readonly Fault[],
  random: Random,
): Signals {
  const habits = habitsOf(random)
  const kinds = new Map(
    [...events].map(([name, counts]) => [name, kindSignals(site, name, counts, faults, habits, random)] as const),
  )
  const fields = [...IDENTIFIER_FIELDS, ...VALUE_FIELDS, ...DUPLICATE_FIELDS]
  const ofBatches = () =>
    new Map(fields.map((field) => [field, together([...kinds.values()].flatMap((kind) => kind.get(field) ?? []))]))
  return {
    presence: site.batch > 1 ? new Map([[null, ofBatches()]]) : kinds,
    consent: consentOf(site, [...events.values()], faults, habits, random),
    tags: tags.map((tag) => tagSignals(site, tag, faults, habits, random)),
  }
}

/** All series, for what happens to all of them. */
export const seriesOf = ({ presence, consent, tags }: Signals): Float64Array[] => {
  const flags = [...[...presence.values()].flatMap((kind) => [...kind.values()]), ...consent.values()]
  // Figures of one kind have their base in common, which must not be collected twice.
  return [
    ...new Set([
      ...flags.flatMap(({ present, total }) => [present, total]),
      ...tags.flatMap(({ consented, denied, taken, refused }) => [consented, denied, taken, refused]),
    ]),
  ]
}

function kindSignals(
  site: SiteProfile,
  name: string,
  counts: Float64Array,
  faults: readonly Fault[],
  habits: Habits,
  random: Random,
): ReadonlyMap<SignalField, Presence> {
  const isCommerce = site.events.some((event) => event.name === name && event.hasEcommerce)
  // What is said of an event is of as many of them as came: a copy, as batches collect both apart.
  const total = counts.slice()
  const fields: readonly SignalField[] = [
    ...IDENTIFIER_FIELDS,
    'event_id',
    ...(isCommerce ? [...VALUE_FIELDS, 'transaction_duplicate' as const] : []),
  ]
  return new Map(
    fields.map((field) => {
      const mine = faults.filter((fault) => fault.signal === field)
      const isVisitors = IDENTIFIER_FIELDS.some((one) => one === field)
      const usual = field === 'transaction_duplicate' && name !== 'purchase' ? 0 : habits.rates[field]
      const together = isVisitors && usual < 0.99 ? (site.pagesAVisit ?? 1) : 1
      const present = new Float64Array(SLOTS)
      for (let slot = 0; slot < SLOTS; slot++) {
        if (total[slot] === 0) continue
        let rate = usual
        if (isVisitors && usual < 0.9) rate *= evening(slot) * (habits.days[dayOf(slot)] ?? 1)
        if (field === 'click_id' || field === 'fbc') rate *= habits.paid[dayOf(slot)] ?? 1
        for (const fault of mine) rate = spoilt(fault, name, rate, shareIn(fault, slot))
        present[slot] = clumped(random, total[slot] ?? 0, Math.min(1, rate), together)
      }
      return [field, { present, total }] as const
    }),
  )
}

/** What a fault makes of the rate at which something is said of an event. */
function spoilt(fault: Fault, name: string, rate: number, inside: number): number {
  if (inside === 0) return rate
  switch (fault.kind) {
    case 'identifier_lost':
    case 'event_id_lost':
      return rate * (1 - inside * (1 - fault.size))
    case 'value_broken':
      return rate + inside * fault.size * (1 - rate)
    case 'transactions_repeat':
      return name === fault.event ? rate + inside * (1 - rate) * (fault.size / (1 + fault.size)) : rate
    default:
      return rate
  }
}

/** Share of a consent figure that is left in a slot. */
function left(faults: readonly Fault[], figure: ConsentField, slot: number): number {
  let share = 1
  for (const fault of faults) if (fault.consent === figure) share *= 1 - shareIn(fault, slot) * (1 - fault.size)
  return share
}

/** Share of the events that report consent and on which ads are granted. */
function grantedAt(faults: readonly Fault[], habits: Habits, slot: number): number {
  const granted = Math.min(0.95, habits.granted * evening(slot) * (habits.days[dayOf(slot)] ?? 1))
  // Who has chosen nothing has granted nothing.
  const given = granted * left(faults, 'update', slot) * left(faults, 'ad_storage', slot)
  return 1 - (1 - given) * left(faults, 'refusal', slot)
}

function consentOf(
  site: SiteProfile,
  events: readonly Float64Array[],
  faults: readonly Fault[],
  habits: Habits,
  random: Random,
): ReadonlyMap<ConsentField, Presence> {
  const series = () => new Float64Array(SLOTS)
  const of = { total: series(), signal: series(), update: series(), ads: series(), analytics: series() }
  const denied = series()
  const pages = site.pagesAVisit ?? 1
  for (let slot = 0; slot < SLOTS; slot++) {
    const total = events.reduce((sum, counts) => sum + (counts[slot] ?? 0), 0)
    if (total === 0) continue
    const signal = random.binomial(total, habits.signal * left(faults, 'signal', slot))
    const granted = grantedAt(faults, habits, slot)
    of.total[slot] = total
    of.signal[slot] = signal
    of.update[slot] = clumped(random, signal, habits.choice * left(faults, 'update', slot), pages)
    const ads = clumped(random, signal, granted, pages)
    of.ads[slot] = ads
    of.analytics[slot] = Math.min(signal, ads + random.binomial(signal - ads, 0.1))
    denied[slot] = signal - ads
  }
  const presence = (present: Float64Array, total: Float64Array): Presence => ({ present, total })
  return new Map<ConsentField, Presence>([
    ['signal', presence(of.signal, of.total)],
    ['update', presence(of.update, of.signal)],
    ['ad_storage', presence(of.ads, of.signal)],
    ['analytics_storage', presence(of.analytics, of.signal)],
    ['refusal', presence(denied, of.signal)],
  ])
}

/** A vendor's refusals come in spells. */
const SPELL = 10

function tagSignals(
  site: SiteProfile,
  { tag, executions }: TagHistory,
  faults: readonly Fault[],
  habits: Habits,
  random: Random,
): TagSignals {
  const series = () => new Float64Array(SLOTS)
  const signals = { key: tag.key, consented: series(), denied: series(), taken: series(), refused: series() }
  const mine = faults.filter((fault) => fault.tag === tag.key)
  const keeps = CONSENT_TAGS.some((key) => key === tag.key)
  const pages = site.pagesAVisit ?? 1
  let spell = 1
  for (let slot = 0; slot < SLOTS; slot++) {
    if (slot % SPELL === 0) spell = random.gamma(1.5) / 1.5
    const count = executions[slot] ?? 0
    if (count === 0) continue
    const [refusing = 0, ignoring = 0] = (['vendor_refusing', 'tag_ignores_consent'] as const).map((kind) =>
      mine.reduce((sum, fault) => sum + (fault.kind === kind ? shareIn(fault, slot) * fault.size : 0), 0),
    )
    const consented = random.binomial(count, habits.signal * left(faults, 'signal', slot))
    const deniedShare = 1 - grantedAt(faults, habits, slot)
    signals.consented[slot] = consented
    signals.denied[slot] = clumped(
      random,
      consented,
      deniedShare * (keeps ? habits.slips + (1 - habits.slips) * ignoring : 1),
      tag.events.length > 1 ? pages : 1,
    )
    const usual = Math.min(1, habits.refused * spell)
    const refused = random.binomial(count, usual + (1 - usual) * refusing)
    signals.refused[slot] = refused
    signals.taken[slot] = count - refused
  }
  return signals
}
