import { type Static, Type } from 'typebox'
import { CONSENT_COLUMNS } from '../rollups/index.ts'
import { bitOf, type Counts, SIGNAL, TAG_SIGNAL } from './delta.ts'
import { Flag, OptionalCounter } from './fields.ts'

/** The purposes of Google's consent mode, by Google's names. */
export const CONSENT_PURPOSES = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'] as const

const ConsentClass = Type.Optional(
  Type.Union([Type.Literal('granted'), Type.Literal('denied'), Type.Literal('absent')], {
    description: '`absent`, or left out: the event does not report it',
  }),
)

/** What an event reports about the visitor's consent: classes, never the signal itself. */
export const Consent = Type.Object(
  {
    ad_storage: ConsentClass,
    analytics_storage: ConsentClass,
    ad_user_data: ConsentClass,
    ad_personalization: ConsentClass,
    /** Whether a choice followed the default; left out where the signal does not say. */
    updated: Flag,
    /** Whether the Digital Markets Act applies to the visitor. */
    dma: Flag,
  },
  {
    description:
      'Classes of consent signals; an empty object means "not reported". `updated`: whether a choice followed the default',
  },
)
export type Consent = Static<typeof Consent>

export const CONSENT_FIELDS = [...CONSENT_PURPOSES, 'updated', 'dma'] as const

/** A batch's consent counts over its events. */
export const ConsentCounts = Type.Object(
  {
    total: OptionalCounter,
    ad_storage_granted: OptionalCounter,
    ad_storage_denied: OptionalCounter,
    analytics_storage_granted: OptionalCounter,
    analytics_storage_denied: OptionalCounter,
    ad_user_data_granted: OptionalCounter,
    ad_user_data_denied: OptionalCounter,
    ad_personalization_granted: OptionalCounter,
    ad_personalization_denied: OptionalCounter,
    update_known: OptionalCounter,
    never_updated: OptionalCounter,
    dma: OptionalCounter,
  },
  { description: 'Events by class of their consent signals, among the `total` that reported any' },
)
export type ConsentCounts = Static<typeof ConsentCounts>

/** A batch's consent counts of one tag. `consent_total` counts the executions on events that reported consent. */
export const TagConsent = Type.Object({
  consent_total: OptionalCounter,
  ad_storage_denied: OptionalCounter,
  analytics_storage_denied: OptionalCounter,
})
export type TagConsent = Static<typeof TagConsent>

/** The first field that counts more than the whole it is part of, or undefined. */
export function excessiveTagConsent(counts: TagConsent, executions: number): keyof TagConsent | undefined {
  const { consent_total = 0, ad_storage_denied = 0, analytics_storage_denied = 0 } = counts
  if (consent_total > executions) return 'consent_total'
  if (ad_storage_denied > consent_total) return 'ad_storage_denied'
  return analytics_storage_denied > consent_total ? 'analytics_storage_denied' : undefined
}

/** The same for the counts of a batch's events. */
export function excessiveConsent(counts: ConsentCounts): keyof ConsentCounts | undefined {
  const { total = 0, update_known = 0, never_updated = 0, dma = 0 } = counts
  for (const purpose of CONSENT_PURPOSES) {
    const granted = counts[`${purpose}_granted`] ?? 0
    if (granted > total) return `${purpose}_granted`
    if (granted + (counts[`${purpose}_denied`] ?? 0) > total) return `${purpose}_denied`
  }
  if (update_known > total) return 'update_known'
  if (never_updated > update_known) return 'never_updated'
  return dma > total ? 'dma' : undefined
}

/** An event's consent as a mask of `SIGNAL_COLUMNS`; 0 when it reports none. */
export function consentMask(consent: Consent | undefined): number {
  if (consent === undefined) return 0
  const { ad_storage, analytics_storage, ad_user_data, ad_personalization, updated, dma } = consent
  if ((ad_storage ?? analytics_storage ?? ad_user_data ?? ad_personalization ?? updated ?? dma) === undefined) return 0
  return (
    bitOf(SIGNAL.consent_total) |
    ofClass(ad_storage, SIGNAL.ad_storage_granted, SIGNAL.ad_storage_denied) |
    ofClass(analytics_storage, SIGNAL.analytics_storage_granted, SIGNAL.analytics_storage_denied) |
    ofClass(ad_user_data, SIGNAL.ad_user_data_granted, SIGNAL.ad_user_data_denied) |
    ofClass(ad_personalization, SIGNAL.ad_personalization_granted, SIGNAL.ad_personalization_denied) |
    (updated === undefined ? 0 : bitOf(SIGNAL.update_known)) |
    (updated === false ? bitOf(SIGNAL.never_updated) : 0) |
    (dma === true ? bitOf(SIGNAL.dma) : 0)
  )
}

function ofClass(said: Consent['ad_storage'], granted: number, denied: number): number {
  if (said === 'granted') return bitOf(granted)
  return said === 'denied' ? bitOf(denied) : 0
}

/** Which consent signals of an event each of its tags counts too, as a mask of `TAG_SIGNAL_COLUMNS`. */
export function consentOfTags(signals: number): number {
  const has = (place: number) => (signals >> place) & 1
  return (
    (has(SIGNAL.consent_total) << TAG_SIGNAL.consent_total) |
    (has(SIGNAL.ad_storage_denied) << TAG_SIGNAL.ad_storage_denied) |
    (has(SIGNAL.analytics_storage_denied) << TAG_SIGNAL.analytics_storage_denied)
  )
}

/** Sets a batch's consent counts. */
export function addConsentCounts(counts: Counts, given: ConsentCounts): void {
  counts[SIGNAL.consent_total] = given.total ?? 0
  for (const field of CONSENT_COLUMNS) counts[SIGNAL[field]] = given[field] ?? 0
}

/** Sets a batch's consent counts of one tag. */
export function addTagConsentCounts(counts: Counts, given: TagConsent): void {
  counts[TAG_SIGNAL.consent_total] = given.consent_total ?? 0
  counts[TAG_SIGNAL.ad_storage_denied] = given.ad_storage_denied ?? 0
  counts[TAG_SIGNAL.analytics_storage_denied] = given.analytics_storage_denied ?? 0
}
