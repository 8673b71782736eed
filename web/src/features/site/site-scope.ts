import { replaceEqualDeep, useQuery } from '@tanstack/react-query'
import { createContext, useContext, useMemo, useRef } from 'react'
import { alertsQuery } from '../../api/alerts.ts'
import { type MarkersAnswer, markersQuery, type SiteReport } from '../../api/analytics.ts'
import { annotationsQuery } from '../../api/annotations.ts'
import type { Query } from '../../api/client.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import type { AlertSpan, DeployMark } from '../../ui/chart/points.ts'
import type { SpanSelection } from '../../ui/chart/select-span.ts'
import { fixedRange } from '../../ui/time-range/range.ts'
import { useZoom } from '../../ui/time-range/use-time-range.ts'
import { changeMarks, changesOf, type SiteChange } from './changes.ts'
import { alertSpans, intervalOf, type Stretch, stretchOf } from './marks.ts'

/** What every chart of the page has in common. */
export interface Frame {
  /** epoch ms */
  from: number
  to: number
  zone: string
  group: string
  alerts: readonly AlertSpan[]
  /** Lines without names, which only the first chart has. */
  deploys: readonly DeployMark[]
  picked: Stretch | null
  /** Zooms into the dragged span. */
  selection: SpanSelection
}

/** What the parts of a site's page share. */
interface SiteScope {
  site: SiteRecord
  view: SiteView
  report: SiteReport
  /** The window of the reports. */
  query: Query
  /** The compared window: its name, and the shift with which it lies under this one, ms. */
  before: { query: Query; shift: number; name: string } | null
  frame: Frame
  /** What changed in the window, oldest first … */
  changes: readonly SiteChange[]
  /** … and its marks, with their names. */
  deploys: readonly DeployMark[]
}

/** Window of a disabled query. With this window's key, its data would be shown as the previous window's while that loads. */
export const NO_WINDOW: Query = {}

export const SiteScopeContext = createContext<SiteScope | null>(null)

export function useSite(): SiteScope {
  const scope = useContext(SiteScopeContext)
  if (scope === null) throw new Error('Outside of a site page')
  return scope
}

/** Number of alerts searched for those in the window. */
export const ALERTS = 200

const NONE: readonly never[] = []
const NO_MARKERS: MarkersAnswer = []

export function useSiteScope(site: SiteRecord, report: SiteReport, query: Query, view: SiteView): SiteScope {
  const { data: alerts = NONE } = useQuery(alertsQuery({ site_id: site.id, limit: ALERTS }))
  const { data: markers = NO_MARKERS } = useQuery(markersQuery(site.id, query))
  const { data: annotations = NONE } = useQuery(annotationsQuery(site.id, report.from, report.to))
  const zoom = useZoom()
  const [from, to] = [Date.parse(report.from), Date.parse(report.to)]
  // Keep equal values identical, so that an answer without news does not redraw charts.
  const spans = useSame(alertSpans(alerts, from, to))
  const changes = useSame(changesOf(markers, annotations))
  const picked = useSame(view.picked)
  const deploys = useMemo(() => changeMarks(changes, to - from), [changes, from, to])
  const frame = useMemo(
    (): Frame => ({
      from,
      to,
      zone: site.timezone,
      group: `site ${site.id}`,
      alerts: spans,
      deploys: deploys.map(({ at }) => ({ at })),
      picked,
      selection: { onSelect: (span) => zoom.into(span, { from, to }), onReset: zoom.reset },
    }),
    [site.id, site.timezone, from, to, spans, deploys, picked, zoom],
  )
  return useMemo(() => {
    const { previous } = report
    const before =
      previous === undefined
        ? null
        : {
            query: { from: previous.from, to: previous.to },
            shift: from - Date.parse(previous.from),
            name: COMPARED_WITH[view.comparison ?? 'previous'],
          }
    return { site, view, report, query, before, changes, deploys, frame }
  }, [site, report, query, view, from, changes, deploys, frame])
}

export const TABS = ['charts', 'tags', 'payloads'] as const
export type Tab = (typeof TABS)[number]

/** The focus of the page: a tag, an event, or a tag on an event. */
export type Focus = { kind: 'tag' | 'event'; name: string } | { kind: 'pair'; tag: string; event: string }

export const focusName = (focus: Focus): string =>
  focus.kind === 'pair' ? `${focus.tag} on ${focus.event}` : focus.name

export interface SiteView {
  tab: Tab
  /** Null for the whole site. */
  focus: Focus | null
  /** Null for no comparison. */
  comparison: Comparison | null
  /** The tag whose execution times are shown; empty for all tags. */
  timedTag: string
  setTab: (tab: Tab) => void
  /** The clicked stretch of time, marked on every chart until it is cleared. */
  picked: Stretch | null
  /** Opens the charts of the focus; `picked` is the clicked time. */
  setFocus: (focus: Focus | null, picked?: Stretch) => void
  clearPicked: () => void
  setComparison: (comparison: Comparison | null) => void
  setTimedTag: (tag: string) => void
}

/** The state of a site's page, which is kept in its address beside the time range. */
export function useSiteView(): SiteView {
  const [tab, setTab] = useUrlState<Tab>('tab', 'charts', TABS, { push: true })
  const [tag] = useUrlState('tag', '')
  const [event] = useUrlState('event', '')
  const [compare, setCompare] = useUrlState<Comparison | ''>('compare', '', [...COMPARISONS, ''])
  const [at] = useUrlState('at', '')
  const [timedTag, setTimedTag] = useUrlState('latency', '')
  const setAll = useSetUrlState({ push: true })
  return useMemo(
    () => ({
      tab,
      focus: focusOf(tag, event),
      comparison: compare === '' ? null : compare,
      timedTag,
      setTab,
      picked: stretchOf(at),
      clearPicked: () => setAll({ at: undefined }),
      setFocus: (focus, picked) =>
        setAll({
          ...(picked !== undefined && { at: intervalOf(picked) }),
          tab: undefined,
          tag: focus?.kind === 'tag' ? focus.name : focus?.kind === 'pair' ? focus.tag : undefined,
          event: focus?.kind === 'event' ? focus.name : focus?.kind === 'pair' ? focus.event : undefined,
        }),
      setComparison: (comparison) => setCompare(comparison ?? ''),
      setTimedTag,
    }),
    [tab, tag, event, compare, at, timedTag, setTab, setAll, setCompare, setTimedTag],
  )
}

function focusOf(tag: string, event: string): Focus | null {
  if (tag !== '' && event !== '') return { kind: 'pair', tag, event }
  if (tag !== '') return { kind: 'tag', name: tag }
  return event === '' ? null : { kind: 'event', name: event }
}

/** What a window is compared with: the same length of time just before it, or the same time a week ago. */
export const COMPARISONS = ['previous', 'week'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** Names of what is compared with, on charts and in sentences. */
const COMPARED_WITH: Readonly<Record<Comparison, string>> = {
  previous: 'period before',
  week: 'a week ago',
}

/** The same local times seven days earlier. */
export function weekBefore({ from, to }: Window, zone: string): Window {
  return fixedRange({ from: aWeekBefore(Date.parse(from), zone), to: aWeekBefore(Date.parse(to), zone) })
}

const MINUTE = 60_000
const WEEK = 7 * 24 * 60 * MINUTE
/** By how much a window that ends now moves on until its report is here, ms. */
const MOVES_MS = 5 * MINUTE

interface Window {
  from: string
  to: string
}

/** Whether a report is about a window, or about the same a moment ago. Another one's figures would be compared with what they are not. */
export const isAbout = (report: Window, window: Window): boolean =>
  (['from', 'to'] as const).every((end) => Math.abs(Date.parse(report[end]) - Date.parse(window[end])) <= MOVES_MS)

function aWeekBefore(at: number, zone: string): number {
  const wall = new Date(Date.parse(`${wallTime(at, zone)}Z`) - WEEK).toISOString().slice(0, 16)
  return momentOf(wall, zone) ?? at - WEEK
}

/** Returns the previous value while it is deeply equal, so that what depends on it does not run again. Only for plain data. */
export function useSame<T>(value: T): T {
  const kept = useRef(value)
  kept.current = replaceEqualDeep(kept.current, value)
  return kept.current
}
