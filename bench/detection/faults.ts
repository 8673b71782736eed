import type { ConsentField, DuplicateField, IdentifierField, ValueField } from '../../src/detection/index.ts'
import { SECOND } from '../../src/lib/index.ts'
import { ECOMMERCE, type Field, type SiteProfile, USER_DATA } from './profile.ts'
import type { Random } from './random.ts'
import { FIRST_JUDGED, SLOT, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR } from './world.ts'

export const IDENTIFIER_FIELDS = [
  'client_id',
  'fbp',
  'fbc',
  'click_id',
  'ip',
  'user_agent',
] as const satisfies readonly IdentifierField[]
export const VALUE_FIELDS = [
  'value_zero',
  'value_invalid',
  'currency_invalid',
  'items_empty',
] as const satisfies readonly ValueField[]
export const DUPLICATE_FIELDS = ['event_id', 'transaction_duplicate'] as const satisfies readonly DuplicateField[]
export type SignalField = IdentifierField | ValueField | DuplicateField

/** What of consent gets lost: signals, choices, what is granted and what is refused. */
const CONSENT_LOSSES = ['signal', 'update', 'ad_storage', 'refusal'] as const satisfies readonly ConsentField[]

export const COUNT_KINDS = [
  'silent_sender',
  'partial_loss',
  'slow_decay',
  'event_dead',
  'event_partial',
  'tag_dead',
  'tag_off_event',
  'tag_failing',
  'tag_slow',
  'field_lost',
] as const

/** Faults of what version 2 of the tag says, and of what comes too often or too soon. */
export const SIGNAL_KINDS = [
  'event_doubled',
  'transactions_repeat',
  'event_id_lost',
  'value_broken',
  'identifier_lost',
  'consent_lost',
  'tag_ignores_consent',
  'vendor_refusing',
  'tag_too_soon',
] as const

export const FAULT_KINDS = [...COUNT_KINDS, ...SIGNAL_KINDS] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** The faults that a site has while these probes are watched. */
export const kindsOf = (scope: 'all' | 'volume' | 'signals' = 'all'): readonly FaultKind[] =>
  scope === 'signals' ? SIGNAL_KINDS : COUNT_KINDS

export interface Fault {
  kind: FaultKind
  /** In slots and fractions of one, half-open. */
  from: number
  to: number
  /** What is left of the count, how many times it comes, the share that fails, the factor of the time, or (too soon) the time, ms. */
  size: number
  event?: string
  tag?: string
  field?: Field
  signal?: SignalField
  consent?: ConsentField
  /** How much later the second of two comes, s on average. */
  later?: number
}

/** Time that a site is left alone between two faults, so that each has its own consequences. */
const REST = 18 * SLOTS_AN_HOUR

/** Six or so faults of a site, one after the other. */
export function randomFaults(site: SiteProfile, random: Random, kinds: readonly FaultKind[] = COUNT_KINDS): Fault[] {
  const faults: Fault[] = []
  let left = kinds
  // New sites have four days without faults: without a past nothing can be missed.
  let free = Math.max(FIRST_JUDGED + SLOTS_A_DAY, (site.bornOn + 4) * SLOTS_A_DAY) + random.between(0, SLOTS_A_DAY)
  while (free < SLOTS - 3 * SLOTS_A_DAY) {
    const fault = randomFault(site, random, free, left)
    // What a week has seen is no measure for the next fault of its kind: no kind of signal breaks twice.
    left = left.filter((kind) => kind !== fault.kind || COUNT_KINDS.some((one) => one === kind))
    if (fault.to < SLOTS - 12 * SLOTS_AN_HOUR) faults.push(fault)
    free = fault.to + REST + random.between(0, 2 * SLOTS_A_DAY)
  }
  return faults
}

/** Two tags fire together, or the second waits for something; or a thank-you page is loaded again, as by a fifth of the faults. */
const LATER = [1, 1, 5, 5, 120] as const

/** Of what only shops send. */
const OF_SHOPS: readonly FaultKind[] = ['transactions_repeat', 'value_broken']

/** One of any kind, that begins within a day of a slot. */
export function randomFault(
  site: SiteProfile,
  random: Random,
  earliest: number,
  kinds: readonly FaultKind[] = COUNT_KINDS,
): Fault {
  const isShop = site.events.some(({ hasEcommerce }) => hasEcommerce)
  const possible = kinds.filter((kind) => isShop || !OF_SHOPS.includes(kind))
  const kind = random.pick<FaultKind>([possible[0] ?? 'silent_sender', ...possible.slice(1)])
  const hours = kind === 'slow_decay' ? random.between(120, 170) : random.between(4, 36)
  const from = earliest + random.between(0, SLOTS_A_DAY)
  const fault: Fault = { kind, from, to: from + hours * SLOTS_AN_HOUR, size: 0 }
  const names = site.events.map(({ name }) => name)
  const event = random.pick(names as [string, ...string[]])
  const tag = random.pick(['GA4', 'Ads conversion', 'Warehouse', 'Affiliate'])
  switch (kind) {
    case 'silent_sender':
      return fault
    case 'partial_loss':
      return { ...fault, size: random.between(0.1, 0.4) }
    case 'slow_decay':
      return { ...fault, size: random.between(0.15, 0.3) }
    case 'event_dead':
      return { ...fault, event: event === names[0] ? (names[1] ?? event) : event }
    case 'event_partial':
      return { ...fault, event: event === names[0] ? (names[1] ?? event) : event, size: random.between(0.1, 0.35) }
    case 'tag_dead':
      return { ...fault, tag }
    case 'tag_off_event':
      return { ...fault, tag: random.pick(['GA4', 'Warehouse']), event }
    case 'tag_failing':
      return { ...fault, tag, size: random.between(0.2, 1) }
    case 'tag_slow':
      return { ...fault, tag, size: random.between(3, 12) }
    case 'field_lost': {
      const hasCommerce = site.events.some(({ hasEcommerce }) => hasEcommerce)
      const field = random.pick<Field>(
        hasCommerce ? ([...USER_DATA, ...ECOMMERCE] as [Field, ...Field[]]) : [...USER_DATA],
      )
      return { ...fault, field, size: random.between(0, 0.05) }
    }
    case 'event_doubled':
      return { ...fault, event, size: random.pick([2, 2, 2, 3]), later: random.pick([...LATER]) }
    case 'transactions_repeat':
      return { ...fault, event: 'purchase', signal: 'transaction_duplicate', size: random.between(0.4, 1) }
    case 'event_id_lost':
      return { ...fault, signal: 'event_id', size: random.between(0, 0.3) }
    case 'value_broken':
      return { ...fault, signal: random.pick([...VALUE_FIELDS]), size: random.between(0.2, 1) }
    case 'identifier_lost':
      return { ...fault, signal: random.pick([...IDENTIFIER_FIELDS]), size: random.between(0, 0.3) }
    case 'consent_lost':
      return { ...fault, consent: random.pick([...CONSENT_LOSSES]), size: random.between(0, 0.3) }
    case 'tag_ignores_consent':
      return { ...fault, tag: random.pick(['Meta', 'Ads conversion']), size: 1 }
    case 'vendor_refusing':
      return { ...fault, tag, size: random.between(0.15, 1) }
    case 'tag_too_soon':
      return { ...fault, tag, size: random.between(1, 4) }
  }
}

/** How much of a slot lies in the fault, 0–1. */
export const shareIn = (fault: Fault, slot: number): number =>
  Math.max(0, Math.min(fault.to, slot + 1) - Math.max(fault.from, slot))

/** What is left of an event's count in a slot: 0–1, or more where it comes several times. */
export function keptShare(faults: readonly Fault[], event: string, slot: number): number {
  let kept = 1
  for (const fault of faults) {
    const inside = shareIn(fault, slot)
    if (inside > 0) kept *= 1 - inside * (1 - leftOf(fault, event, slot))
  }
  return kept
}

/** How many slots after an event its copy comes, from a time in slots. */
export function slotsLater(faults: readonly Fault[], event: string, time: number, random: Random): number {
  const fault = faults.find(
    (one) => one.event === event && one.later !== undefined && shareIn(one, Math.floor(time)) > 0,
  )
  if (fault?.later === undefined) return 0
  const wait = -Math.log(1 - random.next()) * fault.later * (SECOND / SLOT)
  return Math.floor(time + wait) - Math.floor(time)
}

function leftOf(fault: Fault, event: string, slot: number): number {
  if (fault.kind === 'silent_sender') return 0
  if (fault.kind === 'partial_loss') return fault.size
  // Sinks to its lowest level in the first four fifths of the time and stays there.
  if (fault.kind === 'slow_decay')
    return 1 - (1 - fault.size) * Math.min(1, (slot - fault.from) / (0.6 * (fault.to - fault.from)))
  if (fault.kind === 'event_doubled' && fault.event === event) return fault.size
  if (fault.kind === 'transactions_repeat' && fault.event === event) return 1 + fault.size
  if ((fault.kind === 'event_dead' || fault.kind === 'event_partial') && fault.event === event) return fault.size
  return 1
}
