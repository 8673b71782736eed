import { useInViewport, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type ProbeRecord, stripQuery } from '../../api/probes.ts'
import { AboutClient, useSession } from '../../api/session.ts'
import { HeatStrip } from '../../ui/HeatStrip.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { RowAwaited } from '../../ui/RowAwaited.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { STATUSES, unjudgedWords } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import { inWords, type ProbeRow, pausedWords, runs, sentence } from './list.ts'
import { RowActions } from './ProbeActions.tsx'
import classes from './probes.module.css'

interface Options {
  isOneSite: boolean
  onDelete: (probe: ProbeRecord) => void
}

/** Up to this width a single column is shown: beside a tablet's rail, a message would have room for two words. */
const NARROW = '(max-width: 64em)'

/** The columns of the list; a single one when narrow, with everything stacked. */
export function useColumns({ isOneSite, onDelete }: Options): Column<ProbeRow>[] {
  const isPhone = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false }) ?? false
  const { mayChange } = useSession()
  return useMemo(() => {
    const action: Column<ProbeRow> = {
      key: 'actions',
      title: 'Actions',
      width: isPhone ? '3rem' : '5.5rem',
      render: ({ probe, site }) => (
        <AboutClient value={site?.client_id}>
          <RowActions probe={probe} isPhone={isPhone} onDelete={() => onDelete(probe)} />
        </AboutClient>
      ),
    }
    const actions = mayChange ? [action] : []
    if (isPhone)
      return [{ key: 'probe', title: 'Probe', render: (row) => <Card row={row} isOneSite={isOneSite} /> }, ...actions]
    return [
      {
        key: 'status',
        title: 'Status',
        width: '7.5rem',
        sortBy: ({ probe, status }) => (runs(probe) ? STATUSES.indexOf(status) : null),
        render: (row) => <Status row={row} />,
      },
      {
        key: 'name',
        title: 'Probe',
        width: '17%',
        sortBy: ({ probe }) => probe.name,
        render: (row) => <Name row={row} />,
      },
      ...(isOneSite ? [] : [SITE]),
      {
        key: 'strip',
        title: 'Last 50 results',
        render: ({ probe, site }) => <RowStrip probe={probe} zone={site?.timezone} />,
      },
      { key: 'message', title: 'Last message', render: (row) => <Message row={row} /> },
      {
        key: 'ran',
        title: 'Last run',
        width: '8rem',
        sortBy: ({ probe }) => probe.last_result_at,
        render: (row) => <Runs row={row} />,
      },
      ...actions,
    ]
  }, [isOneSite, isPhone, mayChange, onDelete])
}

const SITE: Column<ProbeRow> = {
  key: 'site',
  title: 'Site',
  width: '14%',
  sortBy: ({ site }) => site?.name ?? null,
  render: ({ site }) =>
    site !== undefined && (
      <Link className={classes.site} to="/sites/$siteId/probes" params={{ siteId: site.id }}>
        {site.name}
      </Link>
    ),
}

const Name = ({ row: { probe } }: { row: ProbeRow }) => (
  <>
    <Link to="/probes/$probeId" params={{ probeId: probe.id }} className={classes.link}>
      {probe.name}
    </Link>
    <span className={classes.sub}>every {inWords(probe.interval_seconds)}</span>
  </>
)

const Status = ({ row: { probe, status } }: { row: ProbeRow }) =>
  runs(probe) ? (
    <StatusBadge status={status}>{unjudgedWords(probe)}</StatusBadge>
  ) : (
    <span className={classes.muted}>{pausedWords(probe)}</span>
  )

function Message({ row: { probe } }: { row: ProbeRow }) {
  if (probe.last_message === null) return <span className={classes.muted}>{waiting(probe)}</span>
  return (
    <span className={classes.message} title={probe.last_message}>
      {sentence(probe.last_message)}
    </span>
  )
}

const waiting = (probe: ProbeRecord): string => (runs(probe) ? 'waits for its first run' : 'has never run')

function Runs({ row: { probe, site } }: { row: ProbeRow }) {
  const zone = site === undefined ? {} : { zone: site.timezone }
  return (
    <>
      <RelativeTime at={probe.last_result_at} {...zone} />
      {probe.next_run_at !== null && (
        <span className={classes.sub}>
          next <RelativeTime at={probe.next_run_at} due="run is due" {...zone} />
        </span>
      )}
    </>
  )
}

function Card({ row, isOneSite }: { row: ProbeRow; isOneSite: boolean }) {
  const { probe, site } = row
  return (
    <div className={classes.card}>
      <span className={classes.cardHead}>
        <Status row={row} />
        {!isOneSite && site !== undefined && <span className={classes.sub}>{site.name}</span>}
      </span>
      <Name row={row} />
      <Message row={row} />
      <RowStrip probe={probe} zone={site?.timezone} />
      <span className={classes.sub}>
        <RelativeTime at={probe.last_result_at} {...(site === undefined ? {} : { zone: site.timezone })} />
      </span>
    </div>
  )
}

interface Props {
  probe: ProbeRecord
  zone: string | undefined
}

/** Loads the results when the row becomes visible, so that a long list does not make as many calls at once. */
function RowStrip({ probe, zone }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { data, error, refetch } = useQuery({ ...stripQuery(probe), enabled: inViewport })
  return (
    <div ref={ref} className={classes.strip}>
      {data === undefined ? (
        <RowAwaited error={error} onRetry={() => void refetch()} height={20} width="100%" />
      ) : (
        <HeatStrip results={data} zone={zone} />
      )}
    </div>
  )
}
