import { useQuery } from '@tanstack/react-query'
import { probesQuery } from '../../api/probes.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { type UptimeAnswer, uptimeQuery } from '../../api/uptime.ts'
import { unbroken } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { Awaited } from '../../ui/States.tsx'
import { UptimeBar } from '../../ui/uptime/UptimeBar.tsx'
import { budgetInWords, uptimePercent } from '../../ui/uptime/words.ts'
import { Panel } from './Panel.tsx'
import page from './site.module.css'

/** The uptime of the last 90 days, independent of the page's window. */
export function UptimePanel({ site }: { site: SiteRecord }) {
  const { data, error, refetch } = useQuery(uptimeQuery(site.id))
  return (
    <Panel title="Uptime" unit="last 90 days">
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={56} />
      ) : (
        <>
          <UptimeBar days={data.days} firstDay={data.first_day} />
          <p className={page.muted}>
            {data.uptime === null
              ? 'Nothing was judged yet: days fill as probes judge the site.'
              : `${uptimePercent(data.uptime)} of the judged time without a critical problem`}
            {data.delivered !== null && ` · ${uptimePercent(data.delivered)} of tag runs delivered`}
          </p>
          {data.slo !== null && <SloLine slo={data.slo} siteId={site.id} />}
        </>
      )}
    </Panel>
  )
}

/** What is left of the site's error budget, and whether a probe watches it. */
function SloLine({ slo, siteId }: { slo: NonNullable<UptimeAnswer['slo']>; siteId: string }) {
  const { data: probes } = useQuery(probesQuery(siteId))
  const isWatched = probes?.some(({ probe_type, is_active }) => probe_type === 'error_budget' && is_active) ?? true
  const isUsedUp = slo.spent_seconds >= slo.budget_seconds
  return (
    <p className={isUsedUp ? page.bad : undefined}>
      Target {slo.target}&nbsp;%: {budgetInWords(slo)}, {length(slo.spent_seconds)} of {length(slo.budget_seconds)}{' '}
      spent in {slo.days} days
      {!isWatched && (
        <>
          {' · '}
          <TextLink to="/sites/$siteId/probes" params={{ siteId }}>
            no probe watches it: add “Error budget”
          </TextLink>
        </>
      )}
    </p>
  )
}

/** A duration to the minute, because a budget of hours is spent in minutes. */
function length(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  const rest = minutes % 60
  return unbroken(minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`)
}
