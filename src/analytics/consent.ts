import type { SignalCounts, TagSignalCounts } from '../store/index.ts'
import { type Presence, presence } from './score.ts'
import { byCountThenKey } from './sums.ts'

/** What Google's consent mode asks for, by its names. */
export const PURPOSES = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'] as const
type Purpose = (typeof PURPOSES)[number]

/** How many events said what of a purpose. */
export interface ConsentClasses {
  granted: number
  denied: number
  /** Their signals say nothing of it. */
  absent: number
}

/** What the events of a window said of consent. */
export interface ConsentReport extends Record<Purpose, ConsentClasses> {
  /** Events that reported it, even that there is no signal: the base of everything here. */
  total: number
  /** Of those whose signal says so: no choice followed the default. */
  never_updated: Presence
  /** Events of visitors to whom the Digital Markets Act applies. */
  dma: number
  /** Tags that ran although it was denied, those that did so most first. */
  tags: TagConsent[]
}

export interface TagConsent {
  tag_key: string
  /** Executions on events that reported consent. */
  total: number
  ad_storage_denied: number
  analytics_storage_denied: number
}

export function classesOf(sums: SignalCounts, purpose: Purpose): ConsentClasses {
  const granted = sums[`${purpose}_granted`]
  const denied = sums[`${purpose}_denied`]
  return { granted, denied, absent: sums.consent_total - granted - denied }
}

export function consentReport(sums: SignalCounts, tags: ReadonlyMap<string, TagSignalCounts>): ConsentReport {
  return {
    total: sums.consent_total,
    ad_storage: classesOf(sums, 'ad_storage'),
    analytics_storage: classesOf(sums, 'analytics_storage'),
    ad_user_data: classesOf(sums, 'ad_user_data'),
    ad_personalization: classesOf(sums, 'ad_personalization'),
    never_updated: presence(sums.never_updated, sums.update_known),
    dma: sums.dma,
    tags: deniedTags(tags),
  }
}

function deniedTags(tags: ReadonlyMap<string, TagSignalCounts>): TagConsent[] {
  return Array.from(tags, ([tag_key, { consent_total, ad_storage_denied, analytics_storage_denied }]) => ({
    tag_key,
    total: consent_total,
    ad_storage_denied,
    analytics_storage_denied,
  }))
    .filter((tag) => tag.ad_storage_denied > 0 || tag.analytics_storage_denied > 0)
    .sort(
      byCountThenKey(
        (tag) => Math.max(tag.ad_storage_denied, tag.analytics_storage_denied),
        (tag) => tag.tag_key,
      ),
    )
}
