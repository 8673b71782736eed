import { UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { memo } from 'react'
import type { ClientState, SiteState } from '../../api/overview.ts'
import { useMayChange } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { compact, counted, duration, whole } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { StatusBadge, StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { WindowList } from '../../ui/WindowList.tsx'
import classes from './overview.module.css'
import type { Headline, ListRow } from './site-list.ts'

interface SiteListProps {
  rows: readonly ListRow[]
  isUnfolded: boolean
  onFold: () => void
}

/** Estimated height of a line until it is measured, px. */
const LINE = 37

/** The list of clients and sites. */
export function SiteList({ rows, isUnfolded, onFold }: SiteListProps) {
  return (
    <WindowList
      label="Sites by client"
      rows={rows}
      height={() => LINE}
      legend={<Legend />}
      draw={(row) => <Line row={row} isUnfolded={isUnfolded} onFold={onFold} />}
    />
  )
}

function Line({ row, isUnfolded, onFold }: { row: ListRow; isUnfolded: boolean; onFold: () => void }) {
  switch (row.kind) {
    case 'client':
      return <ClientLine client={row.client} siteCount={row.siteCount} />
    case 'site':
      return <SiteLine site={row.site} headline={row.headline} />
    case 'fold':
      return (
        <FoldLine clientCount={row.clientCount} siteCount={row.siteCount} isUnfolded={isUnfolded} onToggle={onFold} />
      )
  }
}

/** Labels of the figures. Hidden from screen readers, because each line's figures have their own labels. */
function Legend() {
  return (
    <div className={classes.legend} aria-hidden="true">
      <span />
      <span>Site</span>
      <span>State</span>
      <span>Last 24 h</span>
      <span>Events</span>
      <span>Score</span>
      <span>Last event</span>
    </div>
  )
}

interface ClientLineProps {
  client: ClientState
  siteCount: number
}

const ClientLine = memo(function ClientLine({ client, siteCount }: ClientLineProps) {
  const mayChange = useMayChange()(client.id)
  return (
    <div className={classes.client}>
      <h2 title={client.name}>{client.name}</h2>
      <span className={classes.muted}>
        {siteCount === 0 ? 'no active site' : counted(siteCount, 'site')}
        {siteCount === 0 && mayChange && (
          <>
            {' · '}
            <TextLink to="/clients/$clientId/sites/new" params={{ clientId: client.id }}>
              Add a site
            </TextLink>
          </>
        )}
      </span>
      <span className={classes.clientState}>
        {client.open_alerts > 0 && <span>{counted(client.open_alerts, 'unresolved alert')}</span>}
        {siteCount > 0 && <StatusBadge status={client.status} />}
      </span>
    </div>
  )
})

interface SiteLineProps {
  site: SiteState
  headline: Headline
}

const SiteLine = memo(
  function SiteLine({ site, headline }: SiteLineProps) {
    return (
      <div className={classes.site} data-status={site.status}>
        <StatusMark
          status={site.status}
          label={headline.isAcknowledged ? `${STATUS_WORDS[site.status]}, acknowledged` : STATUS_WORDS[site.status]}
          variant={headline.isAcknowledged ? 'outline' : 'filled'}
        />
        <SiteName site={site} />
        <State headline={headline} />
        <span className={classes.sparkline}>
          <Sparkline values={site.sparkline} label={sparklineLabel(site.sparkline)} />
        </span>
        <span className={classes.events} title={`${counted(site.events_24h, 'event')} in 24 hours`}>
          {compact(site.events_24h)}
          <span className="sr-only"> {site.events_24h === 1 ? 'event' : 'events'} in 24 hours</span>
        </span>
        <Score score={site.score} cap={site.score_cap} />
        <span className={classes.lastSeen}>
          <span className="sr-only">last event </span>
          <RelativeTime at={site.last_event_at} zone={site.timezone} never="no event yet" />
        </span>
      </div>
    )
  },
  // The headline depends only on the site.
  (before, after) => before.site === after.site,
)

function State({ headline: { status, text, since } }: { headline: Headline }) {
  const now = useNow()
  const isSubdued = status === 'ok' || status === 'unknown'
  return (
    <span className={classes.state} data-subdued={isSubdued || undefined} title={text}>
      <span className={classes.stateText}>{text}</span>
      {since !== null && <span className={classes.muted}> · {lasting(now - Date.parse(since))}</span>}
    </span>
  )
}

const lasting = (ms: number): string => (ms < 60_000 ? 'just now' : duration(ms))

function Score({ score, cap }: { score: number | null; cap: SiteState['score_cap'] }) {
  const band = score === null || score >= 70 ? 'good' : score >= 50 ? 'warning' : 'critical'
  return (
    <span
      className={classes.score}
      data-band={band}
      title={cap === null ? undefined : `${cap.max} at most while a critical alert is open: ${cap.reason}`}
    >
      <span className="sr-only">score </span>
      {/* Rounded down, because 69.8 is below the band that begins at 70. */}
      {score === null ? '–' : Math.floor(score)}
    </span>
  )
}

function sparklineLabel(values: readonly number[]): string {
  const done = values.slice(0, -1)
  return `Events an hour: at most ${counted(Math.max(0, ...done), 'event')}, ${whole(done.at(-1) ?? 0)} in the last full hour`
}

/** The site's name, leading to its page. */
function SiteName({ site }: { site: SiteState }) {
  return (
    <Link to="/sites/$siteId" params={{ siteId: site.id }} className={classes.name} title={site.name}>
      {site.name}
    </Link>
  )
}

interface FoldLineProps {
  clientCount: number
  siteCount: number
  isUnfolded: boolean
  onToggle: () => void
}

function FoldLine({ clientCount, siteCount, isUnfolded, onToggle }: FoldLineProps) {
  const Chevron = isUnfolded ? ChevronDown : ChevronRight
  return (
    <UnstyledButton className={classes.fold} onClick={onToggle} aria-expanded={isUnfolded}>
      <StatusMark status="ok" />
      <span>
        {counted(clientCount, 'more client')}, all fine
        <span className={classes.muted}> · {counted(siteCount, 'site')}</span>
      </span>
      <Chevron size={16} aria-hidden />
    </UnstyledButton>
  )
}
