import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { ListChecks } from 'lucide-react'
import { useMemo } from 'react'
import type { ResultRecord } from '../../api/probes.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { whole } from '../../lib/words.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { sentence } from './list.ts'
import classes from './probe.module.css'
import { ResultDrawer } from './ResultDrawer.tsx'

interface Props {
  /** Newest first. */
  rows: readonly ResultRecord[]
  zone: string | undefined
  isActive: boolean
  hasMore: boolean
  isLoading: boolean
  onMore: () => void
}

const PHONE = '(max-width: 48em)'

/** What the probe has found. A row opens its details; the address names the one that is open. */
export function Results({ rows, zone, isActive, hasMore, isLoading, onMore }: Props) {
  const [opened, setOpened] = useUrlState('result', '', undefined, { push: true })
  const columns = useColumns(
    zone,
    rows.some(({ response_time_ms }) => response_time_ms !== null),
  )
  if (rows.length === 0) {
    return (
      <EmptyState icon={ListChecks} title="No result yet">
        {isActive
          ? 'It runs for the first time within one interval. "Run now" does not wait for that.'
          : 'It is switched off: switch it on, or run it once by hand.'}
      </EmptyState>
    )
  }
  return (
    <section className={classes.results}>
      <h2>Results</h2>
      <DataTable
        label="Results"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setOpened(id)}
      />
      {hasMore && (
        <Button variant="default" loading={isLoading} onClick={onMore} className={classes.more}>
          Show older results
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

/** @param isAsked whether the probe asks over the network, which takes a time */
function useColumns(zone: string | undefined, isAsked: boolean): Column<ResultRecord>[] {
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
                <StatusBadge status={result.status} />
                <span className={classes.muted}>{time(result)}</span>
              </span>
              {sentence(result.message)}
            </div>
          ),
        },
      ]
    }
    return [
      { key: 'status', title: 'Status', width: '9rem', render: ({ status }) => <StatusBadge status={status} /> },
      { key: 'time', title: 'When', width: '8rem', render: time },
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
  }, [isPhone, zone, isAsked])
}

const ANSWER: Column<ResultRecord> = {
  key: 'took',
  title: 'Answer',
  isNumber: true,
  width: '7rem',
  render: ({ response_time_ms }) => (response_time_ms === null ? '' : `${whole(response_time_ms)} ms`),
}
