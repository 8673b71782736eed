import type { ReactNode } from 'react'
import type { TagAnswer, TagReport, WindowReport } from '../../api/analytics.ts'
import { percent, whole } from '../../lib/words.ts'
import type { Column } from '../../ui/table/column.ts'
import { badOf, type HeatRow, shareOf } from './heat.ts'
import classes from './site.module.css'
import { change, figure } from './words.ts'

const rate = (value: number | null): string => (value === null ? '–' : percent(value))

type TagEvent = TagAnswer['events'][number]

/** The events of one tag. */
export const TAG_EVENT_COLUMNS: readonly Column<TagEvent>[] = [
  { key: 'event', title: 'Event', sortBy: (row) => row.event_name, render: (row) => <Name>{row.event_name}</Name> },
  ...(['executions', 'success', 'failure', 'timeout', 'exception'] as const).map((key) => ({
    key,
    title: key === 'executions' ? 'Executions' : key,
    isNumber: true,
    sortBy: (row: TagEvent) => row[key],
    render: (row: TagEvent) => whole(row[key]),
  })),
  {
    key: 'share',
    title: 'Failure rate',
    isNumber: true,
    sortBy: (row) => shareOf(badOf(row), row.executions),
    render: (row) => <b>{rate(shareOf(badOf(row), row.executions))}</b>,
  },
]

/** The tags on one event. */
export const EVENT_TAG_COLUMNS: readonly Column<HeatRow>[] = [
  { key: 'tag', title: 'Tag', sortBy: (row) => row.name, render: (row) => <Name>{row.name}</Name> },
  {
    key: 'executions',
    title: 'Executions',
    isNumber: true,
    sortBy: (row) => row.executions,
    render: (row) => whole(row.executions),
  },
  { key: 'bad', title: 'Failed', isNumber: true, sortBy: (row) => row.bad, render: (row) => whole(row.bad) },
  {
    key: 'share',
    title: 'Share failed',
    isNumber: true,
    sortBy: (row) => shareOf(row.bad, row.executions),
    render: (row) => <b>{rate(shareOf(row.bad, row.executions))}</b>,
  },
]

export interface Compared<T> {
  now: T
  /** Null when it did not occur then; undefined when nothing is compared. */
  before: T | null | undefined
}

const number = (
  key: 'executions' | 'avg_ms' | 'p50_ms' | 'p95_ms' | 'p99_ms',
  title: string,
  kind: 'count' | 'ms',
): Column<Compared<TagReport>> => ({
  key,
  title,
  isNumber: true,
  sortBy: ({ now }) => now[key],
  render: ({ now, before }) => (
    <With
      reference={
        before === undefined ? undefined : change(now[key], before?.[key] ?? (kind === 'count' ? 0 : null), kind)
      }
    >
      {kind === 'count' ? whole(now[key] ?? 0) : figure(now[key], kind)}
    </With>
  ),
})

/** All tags of a site. */
export const TAG_COLUMNS: readonly Column<Compared<TagReport>>[] = [
  { key: 'tag', title: 'Tag', sortBy: ({ now }) => now.tag_key, render: ({ now }) => <Name>{now.tag_key}</Name> },
  number('executions', 'Executions', 'count'),
  {
    key: 'share',
    title: 'Failure rate',
    isNumber: true,
    sortBy: ({ now }) => shareOf(badOf(now), now.executions),
    render: ({ now, before }) => (
      <With reference={before ? change(null, shareOf(badOf(before), before.executions), 'rate') : undefined}>
        <b>{rate(shareOf(badOf(now), now.executions))}</b>
      </With>
    ),
  },
  number('avg_ms', 'Average', 'ms'),
  number('p50_ms', 'p50', 'ms'),
  number('p95_ms', 'p95', 'ms'),
  number('p99_ms', 'p99', 'ms'),
]

export interface EventRow {
  event_name: string
  total: number
  share: number | null
  /** Undefined when nothing is compared. */
  before: number | undefined
}

/** All events of a site. */
export const EVENT_COLUMNS: readonly Column<EventRow>[] = [
  { key: 'event', title: 'Event', sortBy: (row) => row.event_name, render: (row) => <Name>{row.event_name}</Name> },
  {
    key: 'total',
    title: 'Events',
    isNumber: true,
    sortBy: (row) => row.total,
    render: (row) => <With reference={change(row.total, row.before, 'count')}>{whole(row.total)}</With>,
  },
  { key: 'share', title: 'Share', isNumber: true, sortBy: (row) => row.share, render: (row) => rate(row.share) },
]

export type TagConsent = WindowReport['consent']['tags'][number]

const denied = (key: 'ad_storage_denied' | 'analytics_storage_denied', title: string): Column<TagConsent> => ({
  key,
  title,
  isNumber: true,
  sortBy: (row) => shareOf(row[key], row.total),
  render: (row) => (
    <With reference={whole(row[key])}>
      <b>{rate(shareOf(row[key], row.total))}</b>
    </With>
  ),
})

/** Tags that ran although consent was denied. */
export const CONSENT_TAG_COLUMNS: readonly Column<TagConsent>[] = [
  { key: 'tag', title: 'Tag', sortBy: (row) => row.tag_key, render: (row) => <Name>{row.tag_key}</Name> },
  {
    key: 'executions',
    title: 'Executions',
    isNumber: true,
    sortBy: (row) => row.total,
    render: (row) => whole(row.total),
  },
  denied('ad_storage_denied', 'Ads denied'),
  denied('analytics_storage_denied', 'Analytics denied'),
]

/** A number with its reference in lighter letters before it, so that the numbers stay aligned. */
function With({ reference, children }: { reference: string | undefined; children: ReactNode }) {
  return (
    <>
      {/* The space is for screen readers and copying: "10 25 %" instead of "1025 %". */}
      {reference !== undefined && <span className={classes.reference}>{reference}</span>} {children}
    </>
  )
}

/** The name in a row, which breaks anywhere, because a long one would be as wide as the page. */
const Name = ({ children }: { children: string }) => <div className={classes.name}>{children}</div>
