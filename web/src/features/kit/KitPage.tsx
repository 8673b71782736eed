import { Button, Group, Stack } from '@mantine/core'
import { Inbox } from 'lucide-react'
import { useMemo, useState } from 'react'
import { percent, whole } from '../../lib/words.ts'
import { ConfirmByName } from '../../ui/Confirm.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { TimeChart } from '../../ui/chart/TimeChart.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { SeriesSwatch } from '../../ui/SeriesSwatch.tsx'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { seriesTokens } from '../../ui/series-color.ts'
import { StatusBadge, StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { TimeRangePicker } from '../../ui/time-range/TimeRangePicker.tsx'
import { useTimeRange } from '../../ui/time-range/use-time-range.ts'

const ZONE = 'Asia/Kolkata'
const EVENTS = ['page_view', 'view_item', 'add_to_cart', 'begin_checkout', 'purchase', 'sign_up', 'search', 'refund']

/** Every shared component with example data, to look at and for tests. Only builds in the mode `kit` contain it. */
export function KitPage() {
  const { query } = useTimeRange()
  const [isAsking, setAsking] = useState(false)
  const [opened, setOpened] = useState('nothing')
  return (
    <Stack gap="xl">
      <PageHeader
        title="Kit"
        parents={[{ label: 'Overview', to: '/overview' }]}
        mark={<StatusMark status="critical" size={16} label="critical" />}
        actions={<TimeRangePicker zone={ZONE} />}
      >
        <span data-testid="range">{JSON.stringify(query)}</span>
      </PageHeader>
      <Group>
        {STATUSES.map((status) => (
          <StatusBadge key={status} status={status} />
        ))}
        <StatusBadge status="critical" variant="outline">
          acknowledged
        </StatusBadge>
        <StatusBadge status="warning" variant="hatched">
          silenced
        </StatusBadge>
        {STATUSES.map((status) => (
          <StatusMark key={status} status={status} size={20} label={STATUS_WORDS[status]} />
        ))}
      </Group>
      <Group>
        <RelativeTime at="2026-01-05T10:00:00.000Z" zone={ZONE} />
        <RelativeTime at={null} />
        <Sparkline values={[0, 2, 5, 9, 4, 0, 0, 3, 8, 2]} label="Example: at most 9" />
        <CopyButton text="copied text" what="example" />
        <Button color="danger" onClick={() => setAsking(true)}>
          Delete
        </Button>
      </Group>
      <Group>
        {[...seriesTokens([...EVENTS, '(other)'])].map(([name, token]) => (
          <Group key={name} gap="xs">
            <SeriesSwatch token={token} />
            {name}
          </Group>
        ))}
      </Group>
      <KitCharts zone={ZONE} events={EVENTS.slice(0, 4)} />
      <span data-testid="opened">{opened}</span>
      <KitTable label="Short list" count={5} onOpen={setOpened} />
      <KitTable label="Long list" count={1_000} onOpen={setOpened} />
      <EmptyState icon={Inbox} title="No alert yet" action={<Button>Add a probe</Button>}>
        An alert opens when a probe finds trouble.
      </EmptyState>
      <ErrorState error={new Error('example')} />
      <ConfirmByName
        opened={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => Promise.reject(new Error('It is in use'))}
        title="Delete the site Example"
        name="Example"
        action="Delete the site"
      >
        Deletes 3 probes and 21 days of data.
      </ConfirmByName>
    </Stack>
  )
}

const HOUR = 3_600_000
const FROM = Date.UTC(2026, 0, 5)
const HOURS = 24
const TO = FROM + HOURS * HOUR
const ALERTS = [{ from: FROM + 15 * HOUR, to: null, severity: 'critical' as const }]
const DEPLOYS = [{ at: FROM + 14.5 * HOUR, label: 'v42' }]

/** A day with a quiet night. */
const pointsOf = (scale: number) =>
  Array.from({ length: HOURS }, (_, n) => ({
    t: new Date(FROM + n * HOUR).toISOString(),
    value: n === 9 ? null : scale * (60 + 50 * Math.sin((n - 8) / 3.8)),
  }))

function KitCharts({ zone, events }: { zone: string; events: readonly string[] }) {
  const [clicked, setClicked] = useState('nothing')
  const counts = useMemo(() => events.map((key, n) => ({ key, points: pointsOf(10 * (n + 1)) })), [events])
  const rates = useMemo(
    () => [
      { key: 'usually', points: pointsOf(0.0001), isReference: true },
      { key: 'Meta CAPI', points: pointsOf(0.003) },
    ],
    [],
  )
  const shared = { from: FROM, to: TO, zone, alerts: ALERTS, deploys: DEPLOYS, group: 'kit' }
  return (
    <div>
      <TimeChart
        {...shared}
        series={counts}
        kind="bars"
        label="Example: events by name"
        onClick={({ series }) => setClicked(series)}
      />
      <TimeChart {...shared} series={rates} kind="lines" format={percent} label="Example: failures" />
      <span data-testid="clicked">{clicked}</span>
    </div>
  )
}

interface Row {
  name: string
  status: (typeof STATUSES)[number]
  count: number | null
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'name', title: 'Name', sortBy: (row) => row.name, render: (row) => row.name },
  { key: 'status', title: 'Status', width: '10rem', render: (row) => <StatusBadge status={row.status} /> },
  {
    key: 'count',
    title: 'Executions',
    isNumber: true,
    width: '8rem',
    sortBy: (row) => row.count,
    render: (row) => (row.count === null ? '–' : whole(row.count)),
  },
]

const keyOf = (row: Row): string => row.name

interface Props {
  label: string
  count: number
  onOpen: (name: string) => void
}

function KitTable({ label, count, onOpen }: Props) {
  const rows = useMemo(
    () =>
      Array.from({ length: count }, (_, n) => ({
        name: `Tag ${n + 1}`,
        status: STATUSES[n % STATUSES.length] ?? 'ok',
        count: n % 5 === 3 ? null : (n * 7_919) % 10_007,
      })),
    [count],
  )
  return <DataTable label={label} columns={COLUMNS} rows={rows} keyOf={keyOf} onOpen={(row) => onOpen(row.name)} />
}
