import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type Overview, overviewQuery, type Status } from '../../api/overview.ts'
import { usePlaceNow } from '../../lib/place.ts'
import { STATUS_SIGNS, STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'

const worstOf = ({ totals }: Overview): { status: Status; count: number } => {
  const status = STATUSES.find((each) => totals[each] > 0) ?? 'unknown'
  return { status, count: totals[status] }
}

/** The worst status of all sites, which the tab's icon and title show too. */
export function useTabStatus(): Status {
  const { data } = useQuery({ ...overviewQuery, select: worstOf })
  const { status, count } = data ?? { status: 'unknown' as const, count: 0 }
  const page = usePlaceNow().crumbs.at(-1)?.label
  useEffect(() => {
    const needsSomebody = status === 'critical' || status === 'error' || status === 'warning'
    const alarm = needsSomebody ? `${STATUS_SIGNS[status]} ${count} ${STATUS_WORDS[status]}` : undefined
    document.title = [alarm, page, 'Tagwarden'].filter((part) => part !== undefined).join(' · ')
  }, [status, count, page])
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', `/static/favicon-${status}.svg`)
  }, [status])
  return status
}
