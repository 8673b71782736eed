import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bell, BellOff, Check, ChevronDown, Info } from 'lucide-react'
import { type AlertRecord, alertQuery, alertsQuery, useEndSilence } from '../../api/alerts.ts'
import type { SiteReport } from '../../api/analytics.ts'
import { useSession } from '../../api/session.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { useNow } from '../../lib/external.ts'
import { onset } from '../../lib/onset.ts'
import { duration, exact, personName, unbroken } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { type Mute, muteOf, untilWords, useMutes } from '../../ui/mute/mutes.ts'
import { SilenceMenu } from '../../ui/mute/SilenceMenu.tsx'
import { InlineError } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { useAcknowledging } from '../../ui/undo.tsx'
import { sentence } from '../alerts/words.ts'
import classes from './SiteAlerts.module.css'
import page from './site.module.css'
import { useSiteView } from './site-scope.ts'
import { clock } from './words.ts'

/** Maximum number of alerts shown; the alerts page has all. */
const SHOWN = 5

/** The site's unresolved alerts. */
export const unresolvedAlertsQuery = (site_id: string) => alertsQuery({ site_id, resolved: false, limit: 1_000 })

/** The open alerts of the site, the worst first. */
export function SiteAlerts({ site }: { site: SiteRecord }) {
  const { data, error, refetch } = useQuery(unresolvedAlertsQuery(site.id))
  const mutes = useMutes()
  // Show the error, because without banners the site would look as if nothing were wrong.
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
        <AlertBanner key={alert.id} alert={alert} site={site} mute={muteOf(mutes, alert)} />
      ))}
      {sorted.length > SHOWN && (
        <p className={classes.more}>
          <TextLink to="/alerts" search={{ site: site.id }}>
            and {sorted.length - SHOWN} more
          </TextLink>
        </p>
      )}
    </section>
  )
}

/** Sort order: open before acknowledged, then what is broken before what cannot be checked, then critical first. */
const rank = ({ subject, severity, state }: { subject: string; severity: string; state: string }): number =>
  (state === 'open' ? 0 : 4) + (subject === 'target' ? 0 : 2) + (severity === 'critical' ? 0 : 1)

interface Props {
  alert: AlertRecord
  site: SiteRecord
  /** The silence or maintenance that mutes it. */
  mute: Mute | null
}

/** An alert: what is broken, since when, what changed before, and buttons to acknowledge and silence it. */
function AlertBanner({ alert, site, mute }: Props) {
  const { data: detail } = useQuery(alertQuery(alert.id))
  const now = useNow()
  const zone = site.timezone
  const since = Date.parse(alert.started_at)
  const words = onset(alert, (at) => clock(at, now, zone))
  const status = alert.subject === 'check' ? 'error' : alert.severity
  const variant = mute !== null ? 'hatched' : alert.state === 'acknowledged' ? 'outline' : 'filled'
  return (
    <article className={classes.banner} data-status={status} data-variant={variant}>
      <span className={classes.mark}>
        <StatusMark status={status} variant={variant} label={`${alert.severity}, ${alert.state}`} />
      </span>
      <div className={classes.words}>
        <h2>
          <Link to="/alerts/$alertId" params={{ alertId: alert.id }}>
            {sentence(alert.title)}
          </Link>
        </h2>
        <p>
          <span title={exact(since, zone)}>
            {words.began} ({duration(now - since)})
          </span>
          {words.detected !== null && <span>{words.detected}</span>}
          {detail?.change != null && <span>began {unbroken(detail.change)}</span>}
          {detail !== undefined && factsInWords(detail.facts).map((fact) => <span key={fact}>{fact}</span>)}
          {alert.is_flapping && <span>flapping</span>}
          {alert.acknowledged_by !== null && <span>acknowledged by {personName(alert.acknowledged_by)}</span>}
          {mute !== null && (
            <span>
              {mute.kind === 'silence' ? 'silent' : 'maintenance'} {untilWords(mute, (at) => clock(at, now, zone))}
            </span>
          )}
        </p>
      </div>
      <Actions alert={alert} mute={mute} zone={zone} tag={detail?.facts.find(({ name }) => name === 'Tag')?.value} />
    </article>
  )
}

function Actions({
  alert,
  mute,
  zone,
  tag,
}: Pick<Props, 'alert' | 'mute'> & { zone: string; tag: string | undefined }) {
  const { mayChange } = useSession()
  const { setFocus } = useSiteView()
  const acknowledging = useAcknowledging()
  const endSilence = useEndSilence()
  return (
    <div className={classes.actions}>
      {tag !== undefined && (
        <Button
          variant="default"
          className={classes.look ?? ''}
          classNames={{ label: classes.label ?? '' }}
          title={tag}
          onClick={() => setFocus({ kind: 'tag', name: tag })}
        >
          Look at {tag}
        </Button>
      )}
      {mayChange && alert.state === 'open' && (
        <Button
          variant="default"
          leftSection={<Check size={16} aria-hidden />}
          loading={acknowledging.isBusy}
          onClick={() => acknowledging.run([alert.id])}
        >
          Acknowledge
        </Button>
      )}
      {mayChange && mute === null && (
        <SilenceMenu target={alert} zone={zone}>
          <Button
            variant="default"
            leftSection={<BellOff size={16} aria-hidden />}
            rightSection={<ChevronDown size={14} aria-hidden />}
          >
            Silence
          </Button>
        </SilenceMenu>
      )}
      {mayChange && mute?.kind === 'silence' && (
        <Button
          variant="default"
          leftSection={<Bell size={16} aria-hidden />}
          loading={endSilence.isPending}
          onClick={() => endSilence.mutate(mute.id)}
        >
          End the silence
        </Button>
      )}
      {endSilence.error !== null && <p role="alert">{endSilence.error.message}</p>}
    </div>
  )
}

/** What makes the report less precise than it looks, and why the previous window cannot be compared. */
export function Warnings({ report }: { report: SiteReport }) {
  const messages = [
    ...report.warnings.map(({ message }) => message),
    ...(report.compareFault === undefined
      ? []
      : [`What it is compared with cannot be shown: it ${report.compareFault}`]),
  ]
  if (messages.length === 0) return null
  return (
    <ul className={page.warnings} aria-label="About these numbers">
      {messages.map((message) => (
        <li key={message}>
          <Info size={16} aria-hidden />
          {unbroken(message)}
        </li>
      ))}
    </ul>
  )
}

interface Fact {
  name: string
  value: string
}

/** Facts that the title contains already. */
const SAID: ReadonlySet<string> = new Set(['Tag', 'Event', 'Event and tag', 'Measured'])

/** The alert's facts that its title does not contain: "usually 0.4 %", "threshold 5 %". */
const factsInWords = (facts: readonly Fact[]): string[] =>
  facts.filter(({ name }) => !SAID.has(name)).map(({ name, value }) => unbroken(`${name.toLowerCase()} ${value}`))
