import { useQuery } from '@tanstack/react-query'
import type { SiteRecord } from '../../api/sites.ts'
import { uptimeQuery } from '../../api/uptime.ts'
import { Awaited } from '../../ui/States.tsx'
import { UptimeBar } from '../../ui/uptime/UptimeBar.tsx'
import { uptimePercent } from '../../ui/uptime/words.ts'
import { Panel } from './Panel.tsx'
import page from './site.module.css'

/** How the last 90 days were, whatever the window of the page. */
export function UptimePanel({ site }: { site: SiteRecord }) {
  const { data, error, refetch } = useQuery(uptimeQuery(site.id))
  return (
    <Panel title="Uptime" unit="last 90 days">
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={56} />
      ) : (
        <>
          <UptimeBar days={data.days} />
          <p className={page.muted}>
            {data.uptime === null
              ? 'Nothing was judged yet: days fill as probes judge the site.'
              : `${uptimePercent(data.uptime)} of the judged time without a critical problem`}
            {data.delivered !== null && ` · ${uptimePercent(data.delivered)} of tag runs delivered`}
          </p>
        </>
      )}
    </Panel>
  )
}
