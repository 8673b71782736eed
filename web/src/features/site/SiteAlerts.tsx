import { useQuery } from '@tanstack/react-query'
import { alertsQuery } from '../../api/alerts.ts'
import type { SiteRecord } from '../../api/site.ts'
import { InlineError } from '../../ui/InlineError.tsx'
import { quietAt } from '../../ui/quiet/quiet.ts'
import { useQuiet } from '../../ui/quiet/use-quiet.ts'
import classes from './AlertBanner.module.css'
import { AlertBanner } from './AlertBanner.tsx'

/** More open alerts than this are a page of their own. */
const SHOWN = 5

/** The open alerts of the site, the worst first. */
export function SiteAlerts({ site }: { site: SiteRecord }) {
  const { data, error, refetch } = useQuery(alertsQuery({ site_id: site.id, resolved: false, limit: 100 }))
  const quiet = useQuiet()
  // Without the banners the site would look as if nothing were wrong.
  if (data === undefined && error !== null) {
    return (
      <section className={classes.banners} aria-label="Open alerts">
        <InlineError error={error} onRetry={() => void refetch()} height={64} />
      </section>
    )
  }
  if (data === undefined || data.length === 0) return null
  const sorted = data.toSorted((a, b) => rank(a) - rank(b))
  return (
    <section className={classes.banners} aria-label="Open alerts">
      {sorted.slice(0, SHOWN).map((alert) => (
        <AlertBanner key={alert.id} alert={alert} site={site} quiet={quietAt(quiet, alert)} />
      ))}
      {sorted.length > SHOWN && <p className={classes.more}>and {sorted.length - SHOWN} more</p>}
    </section>
  )
}

/** What is broken before what cannot be checked, and what no one takes care of first. */
const rank = ({ subject, severity, state }: { subject: string; severity: string; state: string }): number =>
  (state === 'open' ? 0 : 4) + (subject === 'target' ? 0 : 2) + (severity === 'critical' ? 0 : 1)
