import { useLocalStorage, useNetwork } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type Overview, overviewQuery, type Status } from '../../api/overview.ts'
import { useStream, useStreamState } from '../../api/stream.ts'
import { useBreadcrumbs } from '../../ui/PageHeader.tsx'
import { STATUS_SIGNS, STATUS_WORDS, STATUSES, useTab } from '../../ui/status/status.ts'
import classes from './Frame.module.css'
import { Rail } from './Rail.tsx'
import { TopBar } from './TopBar.tsx'

/** What stands around every page: the rail, the top bar, and the word that we are cut off. */
export function Frame() {
  const [isNarrow, setNarrow] = useLocalStorage({ key: 'tagwarden-rail-narrow', defaultValue: false })
  const cutOff = useCutOff()
  const worst = useTabStatus(cutOff !== null)
  const { data: waiting = 0 } = useQuery({ ...overviewQuery, select: openIncidentsOf })
  useStream()
  return (
    <div className={classes.frame} data-narrow={isNarrow || undefined}>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <Rail worst={worst} waiting={waiting} isNarrow={isNarrow} onToggle={() => setNarrow(!isNarrow)} />
      <TopBar />
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      <OfflineBanner since={cutOff} />
    </div>
  )
}

const openIncidentsOf = ({ totals }: Overview): number => totals.open_incidents

/** Says how old what is shown is. Nothing on the page moves for it. */
function OfflineBanner({ since }: { since: number | null }) {
  return (
    <div role="status">
      {since !== null && (
        <div className={classes.banner}>
          <WifiOff size={16} aria-hidden />
          No connection to Tagwarden. You see the state as of {clockOf(since)}. Trying again.
        </div>
      )}
    </div>
  )
}

/** On the clock of the device: the banner is about the device's connection. */
const clockOf = (at: number): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(at)

/** A stream reconnects within this time when only a proxy or a restart has cut it, ms. */
const PATIENCE_MS = 6_000

/** Since when there is no connection to the service, epoch ms; null while there is one, or it was lost just now. */
function useCutOff(): number | null {
  const { online } = useNetwork()
  const stream = useStreamState()
  const isLost = !online || stream === 'broken'
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => {
    if (!isLost) {
      setSince(null)
      return undefined
    }
    const lostAt = Date.now()
    const timer = setTimeout(() => setSince(lostAt), online ? PATIENCE_MS : 0)
    return () => clearTimeout(timer)
  }, [isLost, online])
  return since
}

const worstOf = ({ totals }: Overview): { status: Status; count: number } => {
  const status = STATUSES.find((each) => totals[each] > 0) ?? 'unknown'
  return { status, count: totals[status] }
}

/**
 * The worst status of all sites, which the tab's icon and title show too.
 *
 * @param isCutOff what is known may be old: the tab says so instead of a status
 */
function useTabStatus(isCutOff: boolean): Status {
  const { data } = useQuery({ ...overviewQuery, select: worstOf })
  const { status, count } = data ?? { status: 'unknown' as const, count: 0 }
  const { crumbs, tab } = useBreadcrumbs()
  const page = tab ?? crumbs.at(-1)?.label
  const needsSomebody = status === 'critical' || status === 'error' || status === 'warning'
  const known = needsSomebody ? `${STATUS_SIGNS[status]} ${count} ${STATUS_WORDS[status]}` : undefined
  const alarm = isCutOff ? 'no connection' : known
  useTab([alarm, page, 'Tagwarden'].filter((part) => part !== undefined).join(' · '), status)
  return status
}
