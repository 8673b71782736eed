import { Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, Inbox } from 'lucide-react'
import { useMemo, useState } from 'react'
import { type RecentAnswer, recentQuery } from '../../api/analytics.ts'
import { exact } from '../../lib/words.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { SetUpLink, TableSkeleton } from './NoData.tsx'
import { type Payload, reasonInWords, summaryOf } from './payload.ts'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'

/** The latest payloads as they are stored, and the latest refusals with their reasons. */
export function Payloads() {
  const { site } = useSite()
  const { data, error, refetch } = useQuery(recentQuery(site.id))
  const [opened, setOpened] = useState<Payload | null>(null)
  const zone = site.timezone
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  const accepted = useMemo(() => (isPhone ? acceptedCard(zone) : acceptedColumns(zone)), [isPhone, zone])
  const rejections = useMemo(() => (isPhone ? rejectionCard(zone) : rejectionColumns(zone)), [isPhone, zone])
  if (data === undefined) {
    return error === null ? <TableSkeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  return (
    <div className={classes.charts}>
      <section className={classes.tableSection}>
        <h2>Refused</h2>
        {data.rejections.length === 0 ? (
          <EmptyState icon={CircleCheck} title="Nothing was refused">
            This shows the last 50 requests that were not counted, with the field at fault and the reason. What the
            fields held is kept nowhere.
          </EmptyState>
        ) : (
          <DataTable
            label="Refused requests"
            columns={rejections}
            rows={data.rejections}
            keyOf={keysOf(data.rejections)}
          />
        )}
      </section>
      <section className={classes.tableSection}>
        <h2>Accepted</h2>
        {data.accepted.length === 0 ? (
          <EmptyState icon={Inbox} title="Nothing arrived yet" action={<SetUpLink siteId={site.id} />}>
            This shows the last 50 payloads: which tags ran, and which data was there. Not the data itself, which is
            kept nowhere.
          </EmptyState>
        ) : (
          <DataTable
            label="Accepted payloads"
            columns={accepted}
            rows={data.accepted}
            keyOf={keysOf(data.accepted)}
            onOpen={setOpened}
          />
        )}
      </section>
      <Modal
        opened={opened !== null}
        onClose={() => setOpened(null)}
        size="lg"
        title={opened === null ? '' : `Accepted ${exact(Date.parse(opened.accepted_at), zone)}`}
      >
        {opened !== null && <Json value={opened} />}
      </Modal>
    </div>
  )
}

const PHONE = '(max-width: 48em)'

function Json({ value }: { value: Payload }) {
  const { accepted_at: _, ...payload } = value
  const text = JSON.stringify(payload, null, 2)
  return (
    <div className={classes.json}>
      <CopyButton text={text} what="payload" />
      <pre>{text}</pre>
    </div>
  )
}

type Rejection = RecentAnswer['rejections'][number]

/** A key for each row. Those that are equal are numbered from the oldest on: a sender can be refused twice in a millisecond. */
function keysOf<Row>(rows: readonly Row[]): (row: Row) => string {
  const times = new Map<string, number>()
  const keys = new Map<Row, string>()
  for (const row of rows.toReversed()) {
    const text = JSON.stringify(row)
    const time = (times.get(text) ?? 0) + 1
    times.set(text, time)
    keys.set(row, `${text} ${time}`)
  }
  return (row) => keys.get(row) ?? ''
}

const rejectionColumns = (zone: string): readonly Column<Rejection>[] => [
  { key: 'at', title: 'When', width: '9rem', render: ({ at }) => <RelativeTime at={at} zone={zone} /> },
  {
    key: 'reason',
    title: 'Why',
    sortBy: ({ reason }) => reasonInWords(reason),
    render: ({ reason }) => reasonInWords(reason),
  },
  {
    key: 'path',
    title: 'Field',
    sortBy: ({ path }) => path,
    render: ({ path }) => (path === '' ? 'the whole request' : <code>{path}</code>),
  },
]

const acceptedColumns = (zone: string): readonly Column<Payload>[] => [
  {
    key: 'at',
    title: 'When',
    width: '9rem',
    render: ({ accepted_at }) => <RelativeTime at={accepted_at} zone={zone} />,
  },
  { key: 'what', title: 'Event', sortBy: (row) => summaryOf(row).what, render: (row) => summaryOf(row).what },
  {
    key: 'tags',
    title: 'Tags',
    render: (row) => <Tags row={row} />,
  },
  { key: 'user', title: 'User data', render: (row) => summaryOf(row).userData || '–' },
  { key: 'shop', title: 'E-commerce', render: (row) => summaryOf(row).ecommerce || '–' },
  {
    key: 'container',
    title: 'Container',
    sortBy: (row) => summaryOf(row).container,
    render: (row) => <code>{summaryOf(row).container}</code>,
  },
]

function Tags({ row }: { row: Payload }) {
  const { tags, isBad } = summaryOf(row)
  return isBad ? <b className={classes.bad}>{tags}</b> : tags
}

/** A single stacked column for phones, where six columns would break every word. */
const acceptedCard = (zone: string): readonly Column<Payload>[] => [
  {
    key: 'what',
    title: 'Event',
    sortBy: (row) => summaryOf(row).what,
    render: (row) => {
      const { what, userData, ecommerce, container } = summaryOf(row)
      return (
        <span className={classes.card}>
          <b>{what}</b>
          <span>
            Tags: <Tags row={row} />
          </span>
          {userData !== '' && <span>User data: {userData}</span>}
          {ecommerce !== '' && <span>E-commerce: {ecommerce}</span>}
          <span className={classes.muted}>
            <RelativeTime at={row.accepted_at} zone={zone} /> · <code>{container}</code>
          </span>
        </span>
      )
    },
  },
]

const rejectionCard = (zone: string): readonly Column<Rejection>[] => [
  {
    key: 'reason',
    title: 'Why',
    sortBy: ({ reason }) => reasonInWords(reason),
    render: ({ at, reason, path }) => (
      <span className={classes.card}>
        <b>{reasonInWords(reason)}</b>
        <span>{path === '' ? 'the whole request' : <code>{path}</code>}</span>
        <span className={classes.muted}>
          <RelativeTime at={at} zone={zone} />
        </span>
      </span>
    ),
  },
]
