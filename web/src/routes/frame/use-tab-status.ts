import { useQuery } from '@tanstack/react-query'
import { type Overview, overviewQuery, type Status } from '../../api/overview.ts'
import { useBreadcrumbs } from '../../lib/breadcrumbs.ts'
import { STATUS_SIGNS, STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'
import { useTab } from '../../ui/status/use-tab.ts'

const worstOf = ({ totals }: Overview): { status: Status; count: number } => {
  const status = STATUSES.find((each) => totals[each] > 0) ?? 'unknown'
  return { status, count: totals[status] }
}

/**
 * The worst status of all sites, which the tab's icon and title show too.
 *
 * @param isCutOff what is known may be old: the tab says so instead of a status
 */
export function useTabStatus(isCutOff: boolean): Status {
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
