import { Anchor } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { WifiOff } from 'lucide-react'
import { Suspense } from 'react'
import { type Overview, overviewQuery, type Status } from '../../api/overview.ts'
import { useSession, useSessionEnded } from '../../api/session.ts'
import { useCutOff, useStream } from '../../api/stream.ts'
import { lazyOr } from '../../lib/lazy-or.ts'
import { deviceTime } from '../../lib/words.ts'
import { useBreadcrumbs } from '../../ui/PageHeader.tsx'
import { STATUS_SIGNS, STATUS_WORDS, STATUSES, useTab } from '../../ui/status/status.ts'
import classes from './Frame.module.css'
import { Rail } from './Rail.tsx'
import { TopBar } from './TopBar.tsx'

/** Lazy with a fallback: if it could not be loaded, as after an update, an error would destroy the form. */
const SignInAgain = lazyOr(
  async () => (await import('../../features/sign-in/SignInAgain.tsx')).SignInAgain,
  SignInElsewhere,
)

function SignInElsewhere() {
  return (
    <div role="alert" className={classes.banner}>
      Your session has ended.
      <Anchor href="/sign-in" target="_blank">
        Sign in in another tab
      </Anchor>
      What you typed stays.
    </div>
  )
}

/** The frame of every page: the rail, the top bar, and the banner when there is no connection. */
export function Frame() {
  const [isNarrow, setNarrow] = useLocalStorage({ key: 'tagwarden-rail-narrow', defaultValue: false })
  const cutOff = useCutOff()
  const hasEnded = useSessionEnded()
  const worst = useTabStatus(cutOff !== null, hasEnded)
  const { data: waiting } = useQuery({ ...overviewQuery, select: openIncidentsOf })
  const { data: unreachable = NO_CLIENTS } = useQuery({ ...overviewQuery, select: unreachableOf })
  const { seesAny } = useSession()
  useStream(seesAny && !hasEnded)
  return (
    <div className={classes.frame} data-narrow={isNarrow || undefined}>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <Rail
        worst={worst}
        waiting={waiting ?? 0}
        unreachable={unreachable}
        isNarrow={isNarrow}
        onToggle={() => setNarrow(!isNarrow)}
      />
      <TopBar />
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      <OfflineBanner since={cutOff} hasState={waiting !== undefined} />
      {hasEnded && (
        <Suspense>
          <SignInAgain />
        </Suspense>
      )}
    </div>
  )
}

const NO_CLIENTS: Overview['clients_without_channel'] = []
const unreachableOf = (overview: Overview) => overview.clients_without_channel
const openIncidentsOf = ({ totals }: Overview): number => totals.open_incidents

/** Says that there is no connection, and how old the shown data is. Nothing on the page moves when it appears. */
function OfflineBanner({ since, hasState }: { since: number | null; hasState: boolean }) {
  return (
    <div role="status">
      {since !== null && (
        <div className={classes.banner}>
          <WifiOff size={16} aria-hidden />
          No connection to Tagwarden.{hasState && ` You see the state as of ${deviceTime(since)}.`} Trying again.
        </div>
      )}
    </div>
  )
}

const worstOf = ({ totals }: Overview): { status: Status; count: number } => {
  const status = STATUSES.find((each) => totals[each] > 0) ?? 'unknown'
  return { status, count: totals[status] }
}

/**
 * The worst status of all sites, which the tab's icon and title show too.
 *
 * @param isCutOff whether there is no connection; the tab then says so instead of a possibly old status
 * @param hasEnded whether the session has ended; the tab then shows no status
 */
function useTabStatus(isCutOff: boolean, hasEnded: boolean): Status {
  const { data } = useQuery({ ...overviewQuery, select: worstOf })
  const { status, count } = data ?? { status: 'unknown' as const, count: 0 }
  const { crumbs, tab } = useBreadcrumbs()
  const page = tab ?? crumbs.at(-1)?.label
  const needsSomebody = status === 'critical' || status === 'error' || status === 'warning'
  const known = needsSomebody ? `${STATUS_SIGNS[status]} ${count} ${STATUS_WORDS[status]}` : undefined
  const alarm = isCutOff ? 'no connection' : known
  const parts = hasEnded ? ['Sign in'] : [alarm, page]
  useTab([...parts, 'Tagwarden'].filter((part) => part !== undefined).join(' · '), hasEnded ? 'unknown' : status)
  return status
}
