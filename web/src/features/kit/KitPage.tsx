import { Button, Group, Stack } from '@mantine/core'
import { Inbox } from 'lucide-react'
import { useState } from 'react'
import { useTimeRange } from '../../lib/use-time-range.ts'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { SeriesSwatch } from '../../ui/SeriesSwatch.tsx'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { seriesTokens } from '../../ui/series-color.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'
import { TimeRangePicker } from '../../ui/TimeRangePicker.tsx'
import { KitCharts } from './KitCharts.tsx'
import { KitTable } from './KitTable.tsx'

const ZONE = 'Asia/Kolkata'
const EVENTS = ['page_view', 'view_item', 'add_to_cart', 'begin_checkout', 'purchase', 'sign_up', 'search', 'refund']

/** Every shared component with example data: to look at, and for the tests. It is in builds of the mode `kit` alone. */
export function KitPage() {
  const { query } = useTimeRange()
  const [isAsking, setAsking] = useState(false)
  const [opened, setOpened] = useState('nothing')
  return (
    <Stack gap="xl">
      <PageHeader
        title="Kit"
        parents={[{ label: 'Overview', to: '/' }]}
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
