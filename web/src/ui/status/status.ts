import { useEffect } from 'react'
import type { SiteState, Status } from '../../api/overview.ts'
import type { ResultRecord } from '../../api/probes.ts'

/** All statuses, most urgent first, as the server orders them. */
export const STATUSES: readonly Status[] = ['critical', 'error', 'warning', 'ok', 'unknown']

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  critical: 'critical',
  // The check could not run, which says nothing about the target.
  error: 'check failing',
  warning: 'warning',
  ok: 'ok',
  unknown: 'not judged yet',
}

/** The target's status by a result; unknown when it judged nothing. */
export const judgedStatus = ({ judged, status }: Pick<ResultRecord, 'judged' | 'status'>): Status =>
  judged ? status : 'unknown'

/**
 * Why there is no status yet, in words; undefined when there is one.
 *
 * @param message of the result: "Learning: 2 of 7 days, judging starts 29 Nov" becomes "learning: 2 of 7 days"
 */
export function unjudgedWords(
  { reason }: Pick<SiteState, 'reason'>,
  message: string | null = null,
): string | undefined {
  if (reason === null) return undefined
  if (reason === 'no_data') return 'no data yet'
  const seen = /^learning: [^,]+/i.exec(message ?? '')?.[0]
  return uncapitalised(seen ?? 'learning')
}

export const NO_EVENT_LATELY = 'no event in the last 24 hours'
/** Events arrive, but nothing that the site's probes judge. */
export const NOTHING_TO_JUDGE = 'nothing to judge yet'

/** What a site without a status waits for. */
export function siteWaitsFor({
  reason,
  last_event_at,
  events_24h,
  probes,
}: Pick<SiteState, 'reason' | 'last_event_at' | 'events_24h' | 'probes'>): string {
  if (reason === 'no_data' && last_event_at === null) return 'no data yet'
  if (reason === 'no_data' && events_24h === 0) return NO_EVENT_LATELY
  if (probes.length === 0) return 'no probes yet'
  if (reason === 'no_data') return NOTHING_TO_JUDGE
  if (reason !== 'learning') return 'waiting for the first result'
  const learning = probes.filter((probe) => probe.reason === 'learning')
  // Prefer the probe that learns whether events arrive at all.
  const first = learning.find((probe) => probe.probe_type === 'data_freshness') ?? learning[0]
  return uncapitalised(first?.message ?? 'learning')
}

const uncapitalised = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

/** Characters for the marks where there can be no image, such as in a tab's title. */
export const STATUS_SIGNS: Readonly<Record<Status, string>> = {
  critical: '■',
  error: '◆',
  warning: '▲',
  ok: '●',
  unknown: '○',
}

/** A negative number when `a` is worse than `b`. */
export const bySeverity = (a: Status, b: Status): number => STATUSES.indexOf(a) - STATUSES.indexOf(b)

/** Sets the tab's title and icon, so that its status is visible without switching to it. */
export function useTab(title: string, status: Status): void {
  useEffect(() => {
    document.title = title
  }, [title])
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', `/static/favicon-${status}.svg`)
  }, [status])
}
