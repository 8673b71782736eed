import '@mantine/core/styles/Drawer.layer.css'
import { Button, Drawer, SegmentedControl } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { ListChecks } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ProbeRecord, ResultRecord } from '../../api/probes.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { duration, exact, unbroken, whole } from '../../lib/words.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { judgedStatus, unjudgedWords } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { sentence } from './list.ts'
import classes from './probe.module.css'
import details from './Results.module.css'

/** Shows all results, or only those that differ from the one before. */
export const RESULT_VIEWS = ['all', 'changes'] as const
type ResultView = (typeof RESULT_VIEWS)[number]

interface ResultsProps {
  /** The results of the view, newest first. */
  rows: readonly ResultRecord[]
  view: ResultView
  onView: (view: ResultView) => void
  zone: string | undefined
  paused: ProbeRecord['paused_by']
  hasMore: boolean
  isLoading: boolean
  onMore: () => void
}

const VIEW_LABELS = [
  { value: 'all', label: 'All' },
  { value: 'changes', label: 'Changes of status' },
] satisfies { value: ResultView; label: string }[]

const PHONE = '(max-width: 48em)'

/** The probe's results. A row opens its details; the page's address holds the open one. */
export function Results({ rows, view, onView, zone, paused, hasMore, isLoading, onMore }: ResultsProps) {
  const [opened, setOpened] = useUrlState('result', '', undefined, { push: true })
  const columns = useColumns(
    zone,
    rows.some(({ response_time_ms }) => response_time_ms !== null),
    useMemo(() => (view === 'changes' ? lastedOf(rows) : undefined), [rows, view]),
  )
  if (rows.length === 0) {
    return (
      <EmptyState icon={ListChecks} title="No result yet">
        {paused === null
          ? 'It runs for the first time within one interval. "Run now" does not wait for that.'
          : `${paused === 'probe' ? 'It' : `Its ${paused}`} is paused: resume it, or run the probe once by hand.`}
      </EmptyState>
    )
  }
  return (
    <section className={classes.results}>
      <div className={classes.views}>
        <h2>Results</h2>
        <SegmentedControl
          size="xs"
          aria-label="Which results"
          data={VIEW_LABELS}
          value={view}
          onChange={onView}
          transitionDuration={0}
        />
      </div>
      <DataTable
        label="Results"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setOpened(id)}
      />
      {hasMore && (
        <Button variant="default" loading={isLoading} onClick={onMore} className={classes.more}>
          {view === 'changes' ? 'Show older changes' : 'Show older results'}
        </Button>
      )}
      <ResultDrawer
        result={rows.find(({ id }) => id === opened)}
        isOpen={opened !== ''}
        zone={zone}
        onClose={() => setOpened('')}
      />
    </section>
  )
}

/** How long each result of `changes` lasted, until the next newer one; by id. */
function lastedOf(changes: readonly ResultRecord[]): ReadonlyMap<string, string> {
  return new Map(
    changes.map(({ id, executed_at }, n) => {
      const next = changes[n - 1]
      return [id, next === undefined ? 'until now' : duration(Date.parse(next.executed_at) - Date.parse(executed_at))]
    }),
  )
}

/**
 * @param isAsked whether the probe asks over the network and has response times
 * @param lasted how long each result lasted; undefined when all results are shown
 */
function useColumns(
  zone: string | undefined,
  isAsked: boolean,
  lasted: ReadonlyMap<string, string> | undefined,
): Column<ResultRecord>[] {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  return useMemo(() => {
    const time = ({ executed_at }: ResultRecord) => (
      <RelativeTime at={executed_at} {...(zone === undefined ? {} : { zone })} />
    )
    if (isPhone) {
      return [
        {
          key: 'result',
          title: 'Result',
          render: (result) => (
            <div className={classes.card}>
              <span className={classes.cardHead}>
                <Judgement result={result} />
                <span className={classes.muted}>
                  {time(result)}
                  {lasted !== undefined && ` · ${lasted.get(result.id) ?? ''}`}
                </span>
              </span>
              {sentence(result.message)}
            </div>
          ),
        },
      ]
    }
    return [
      { key: 'status', title: 'Status', width: '9rem', render: (result) => <Judgement result={result} /> },
      { key: 'time', title: 'When', width: '8rem', render: time },
      ...(lasted === undefined
        ? []
        : [{ key: 'lasted', title: 'Lasted', width: '7rem', render: ({ id }: ResultRecord) => lasted.get(id) ?? '' }]),
      {
        key: 'message',
        title: 'Message',
        render: ({ message, maintenance_id }) => (
          <>
            {sentence(message)}
            {maintenance_id !== null && <span className={classes.muted}> · during maintenance</span>}
          </>
        ),
      },
      ...(isAsked ? [ANSWER] : []),
    ]
  }, [isPhone, zone, isAsked, lasted])
}

/** The status of a result. One that judged nothing shows that instead, because its "ok" says nothing about the target. */
const Judgement = ({ result }: { result: ResultRecord }) => (
  <StatusBadge status={judgedStatus(result)}>{unjudgedWords(result)}</StatusBadge>
)

const ANSWER: Column<ResultRecord> = {
  key: 'took',
  title: 'Answer',
  isNumber: true,
  width: '7rem',
  render: ({ response_time_ms }) => (response_time_ms === null ? '' : unbroken(`${whole(response_time_ms)} ms`)),
}

interface ResultDrawerProps {
  /** Undefined when it is not among the loaded results. */
  result: ResultRecord | undefined
  isOpen: boolean
  zone: string | undefined
  onClose: () => void
}

/** One result with its details. */
function ResultDrawer({ result, isOpen, zone, onClose }: ResultDrawerProps) {
  return (
    <Drawer opened={isOpen} onClose={onClose} position="right" size="xl" title="Result">
      {result === undefined ? (
        <p>This result is older than those that are shown: load older ones, or it has been deleted by now.</p>
      ) : (
        <Content result={result} zone={zone} />
      )}
    </Drawer>
  )
}

const VIEWS = [
  { value: 'words', label: 'Readable' },
  { value: 'json', label: 'JSON' },
]

function Content({ result, zone }: { result: ResultRecord; zone: string | undefined }) {
  const [view, setView] = useState('words')
  const json = JSON.stringify(result.details, null, 2)
  return (
    <div className={classes.result}>
      <p className={classes.cardHead}>
        <Judgement result={result} />
        <span className={classes.muted}>{exact(Date.parse(result.executed_at), zone)}</span>
      </p>
      <p className={classes.message}>{sentence(result.message)}</p>
      <p className={classes.muted}>{circumstances(result)}</p>
      <div className={classes.views}>
        <h3>What it was judged by</h3>
        <SegmentedControl
          aria-label="How the details are shown"
          data={VIEWS}
          value={view}
          onChange={setView}
          size="xs"
          transitionDuration={0}
        />
        <CopyButton text={json} what="details as JSON" />
      </div>
      {view === 'json' ? <pre className={classes.json}>{json}</pre> : <Details value={result.details} zone={zone} />}
    </div>
  )
}

function circumstances({ response_time_ms, attempts, maintenance_id }: ResultRecord): string {
  return [
    response_time_ms === null
      ? 'nothing was asked over the network'
      : unbroken(`answered in ${whole(response_time_ms)} ms`),
    attempts > 1 ? 'tried twice, as the network failed at first' : null,
    maintenance_id === null ? null : 'during maintenance: it opens no alert',
  ]
    .filter((part) => part !== null)
    .join(' · ')
}

interface DetailsProps {
  value: unknown
  zone: string | undefined
}

/** The details of a result for people: names as words, lists of similar objects as tables, times in the site's zone. */
function Details({ value, zone }: DetailsProps) {
  if (Array.isArray(value)) return <List values={value} zone={zone} />
  if (isRecord(value)) return <Fields value={value} zone={zone} />
  return <span className={details.value}>{plain(value, zone)}</span>
}

function Fields({ value, zone }: { value: Record<string, unknown>; zone: string | undefined }) {
  const entries = Object.entries(value)
  if (entries.length === 0) return <span className={details.none}>nothing</span>
  return (
    <dl className={details.fields}>
      {entries.map(([name, each]) => (
        <div key={name} className={details.field} data-deep={isDeep(each) || undefined}>
          <dt>{words(name)}</dt>
          <dd>
            <Details value={each} zone={zone} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function List({ values, zone }: { values: readonly unknown[]; zone: string | undefined }) {
  if (values.length === 0) return <span className={details.none}>none</span>
  if (!values.some(isDeep))
    return <span className={details.value}>{values.map((each) => plain(each, zone)).join(', ')}</span>
  return (
    <ul className={details.list}>
      {values.map((each) => (
        <li key={JSON.stringify(each)}>
          <Details value={each} zone={zone} />
        </li>
      ))}
    </ul>
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value does not fit into one line. */
const isDeep = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value.some(isDeep) : true)

const words = (name: string): string => {
  const text = name.replaceAll('_', ' ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/
const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

function plain(value: unknown, zone: string | undefined): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return numbers.format(value)
  const text = String(value)
  return ISO_TIME.test(text) ? exact(Date.parse(text), zone) : text
}
