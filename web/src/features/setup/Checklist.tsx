import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { recentQuery, siteReportQuery, timeseriesQuery } from '../../api/analytics.ts'
import type { SiteRecord } from '../../api/site.ts'
import { usageQuery } from '../../api/usage.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { checksOf, isTagHeard } from './checks.ts'
import classes from './setup.module.css'

const DAY = { hours: 24 }
/** Minutes are kept for a while only; a peak of six hours says enough. */
const BUSY = { hours: 6 }

/** Whether what comes is what was meant to come. */
export function Checklist({ site }: { site: SiteRecord }) {
  const report = useQuery(siteReportQuery(site.id, DAY, false))
  const minutes = useQuery(timeseriesQuery(site.id, BUSY, { metric: 'events', bucket: '1m' }))
  const recent = useQuery(recentQuery(site.id))
  const usage = useQuery(usageQuery(site.client_id))
  const all = [report, minutes, recent, usage]
  const failed = all.find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error) {
    return <ErrorState error={failed.error} onRetry={() => void Promise.all(all.map(({ refetch }) => refetch()))} />
  }
  if (!report.data || !minutes.data || !recent.data || !usage.data) return <Skeleton height={200} />
  if (!isTagHeard(report.data)) {
    return (
      <p className={classes.muted}>
        Only samples have come in the last 24 hours. Once the container is published, a checklist appears here: whether
        the tag leaves itself out, whether tags have names, and whether the send mode fits the traffic.
      </p>
    )
  }
  const facts = { report: report.data, minutes: minutes.data, recent: recent.data, usage: usage.data }
  return (
    <section className={classes.block} aria-labelledby="checklist">
      <h3 id="checklist">Is it set up well?</h3>
      <ul className={classes.checks}>
        {checksOf(facts).map(({ id, status, title, text }) => (
          <li key={id} data-status={status}>
            <StatusMark status={status} label={STATUS_WORDS[status]} />
            <div>
              <b>{title}</b>
              <p>{text}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
