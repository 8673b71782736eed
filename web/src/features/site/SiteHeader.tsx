import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, History } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { type AlertRecord, alertsQuery } from '../../api/alerts.ts'
import { type Cut, exportUrl, type MarkersAnswer, markersQuery } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import { isReached, type Overview, overviewQuery } from '../../api/overview.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { LinkMenuItem } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { siteWaitsFor } from '../../ui/status/status.ts'
import { type Anchor, TimeRangePicker } from '../../ui/time-range/TimeRangePicker.tsx'
import classes from './site.module.css'
import { ALERTS, COMPARISONS, type Comparison, type Focus, focusName, type SiteView } from './site-scope.ts'

/** How far back deploys are offered as the start of a range. */
const LOOK_BACK = { hours: 720 }

/** Times from which people look at a site: its latest deploy, and its oldest open alert. */
function useAnchors(siteId: string): Anchor[] {
  const { data: markers } = useQuery(markersQuery(siteId, LOOK_BACK))
  const { data: alerts } = useQuery(alertsQuery({ site_id: siteId, limit: ALERTS }))
  return useMemo(() => anchorsOf(markers ?? [], alerts ?? []), [markers, alerts])
}

function anchorsOf(markers: MarkersAnswer, alerts: readonly AlertRecord[]): Anchor[] {
  const deploy = markers.at(-1)
  const begun = alerts
    .filter(({ resolved_at }) => resolved_at === null)
    .map(({ started_at }) => Date.parse(started_at))
    .sort((a, b) => a - b)[0]
  return [
    ...(deploy === undefined
      ? []
      : [
          {
            label: `${deploy.source.replace(/ container$/, '')} ${deploy.to_version}`,
            at: Date.parse(deploy.at),
          },
        ]),
    ...(begun === undefined ? [] : [{ label: 'the first open alert', at: begun }]),
  ]
}

interface SiteHeaderProps {
  site: SiteRecord
  query: Query
  view: SiteView
}

const PARENTS = [{ label: 'Overview', to: '/overview' }]

function LastEvent({ at, zone }: { at: string | null; zone: string }) {
  if (at === null) return 'no event yet'
  return (
    <>
      last event <RelativeTime at={at} zone={zone} />
    </>
  )
}

export function SiteHeader({ site, query, view }: SiteHeaderProps) {
  const select = useCallback(
    (overview: Overview) => {
      const client = overview.clients.find(({ id }) => id === site.client_id)
      const state = client?.sites.find(({ id }) => id === site.id)
      return (
        state && {
          client: client?.name,
          status: state.status,
          last: state.last_event_at,
          waitsFor: siteWaitsFor(state),
          isReached: isReached(overview, site.client_id),
        }
      )
    },
    [site.client_id, site.id],
  )
  const { data: state, isSuccess } = useQuery({ ...overviewQuery, select })
  const anchors = useAnchors(site.id)
  const isPaused = isSuccess && state === undefined
  return (
    <PageHeader
      title={site.name}
      tab={view.focus === null ? undefined : `${focusName(view.focus)} · ${site.name}`}
      parents={PARENTS}
      actions={
        <>
          <TimeRangePicker zone={site.timezone} anchors={anchors} />
          <CompareMenu view={view} siteId={site.id} />
          <CsvMenu siteId={site.id} query={query} focus={view.focus} />
        </>
      }
    >
      <div className={classes.facts}>
        {state !== undefined && (
          <StatusBadge status={state.status}>{state.status === 'unknown' ? state.waitsFor : undefined}</StatusBadge>
        )}
        {isPaused && <StatusBadge status="unknown">paused</StatusBadge>}
        <a href={site.url} rel="noreferrer" target="_blank">
          {site.url.replace(/^https?:\/\//, '').replace(/\/$/, '')}
        </a>
        {state?.client !== undefined && <span>{state.client}</span>}
        <span>
          <LastEvent at={state?.last ?? site.last_event_at} zone={site.timezone} />
        </span>
        <span>times in {site.timezone}</span>
        <span className={classes.ways}>
          <Link to="/sites/$siteId/probes" params={{ siteId: site.id }}>
            Probes
          </Link>
          <Link to="/sites/$siteId/keys" params={{ siteId: site.id }}>
            Keys
          </Link>
          <Link to="/sites/$siteId/setup" params={{ siteId: site.id }}>
            {state === undefined ? 'Setup' : setupWords(state)}
          </Link>
        </span>
        {site.key_revoked_at !== null && <span className={classes.bad}>no valid ingest key</span>}
      </div>
    </PageHeader>
  )
}

/** What is left to do in the setup. */
function setupWords({ last, isReached }: { last: string | null; isReached: boolean }): string {
  if (last === null) return 'Setup: no event yet'
  return isReached ? 'Setup' : 'Setup: notifications are missing'
}

const COMPARE_LABELS: Readonly<Record<Comparison, string>> = {
  previous: 'With the period before',
  week: 'With the same time a week ago',
}

/** Chooses what the page's figures and charts are compared with. */
function CompareMenu({ view: { comparison, setComparison, focus }, siteId }: { view: SiteView; siteId: string }) {
  const tag = focus?.kind === 'tag' ? { a_tag: focus.name } : {}
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant={comparison === null ? 'default' : 'light'}
          leftSection={<History size={16} aria-hidden />}
          aria-pressed={comparison !== null}
        >
          Compare
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {COMPARISONS.map((each) => (
          <Menu.Item key={each} onClick={() => setComparison(each)} disabled={comparison === each}>
            {COMPARE_LABELS[each]}
          </Menu.Item>
        ))}
        <LinkMenuItem to="/compare" search={{ a: siteId, ...tag } as object}>
          {focus?.kind === 'tag' ? 'With another tag or site …' : 'With another site …'}
        </LinkMenuItem>
        {comparison !== null && <Menu.Item onClick={() => setComparison(null)}>With nothing</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  )
}

interface CsvMenuProps {
  siteId: string
  query: Query
  focus: Focus | null
}

/** Downloads the page's data as CSV files. */
function CsvMenu({ siteId, query, focus }: CsvMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Download size={16} aria-hidden />}>
          CSV
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {focus !== null && <Menu.Label>Of {focusName(focus)}</Menu.Label>}
        {cutsOf(focus).map(({ label, ...cut }) => (
          <Menu.Item key={label} component="a" href={exportUrl(siteId, query, cut)} download>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function cutsOf(focus: Focus | null): (Cut & { label: string })[] {
  if (focus?.kind === 'tag') {
    const tag_key = focus.name
    return [
      { label: 'Executions by outcome', metric: 'executions', group_by: 'outcome', tag_key },
      { label: 'Failures by event', metric: 'failures', group_by: 'event_name', tag_key },
      { label: 'Execution time', metric: 'latency', tag_key },
    ]
  }
  if (focus?.kind === 'event') {
    const event_name = focus.name
    return [
      { label: 'Events', metric: 'events', event_name },
      { label: 'Executions by tag', metric: 'executions', group_by: 'tag_key', event_name },
      { label: 'Failures by tag', metric: 'failures', group_by: 'tag_key', event_name },
    ]
  }
  if (focus?.kind === 'pair') {
    const of = { tag_key: focus.tag, event_name: focus.event }
    return [{ label: 'Executions by outcome', metric: 'executions', group_by: 'outcome', ...of }]
  }
  return [
    { label: 'Events by name', metric: 'events', group_by: 'event_name' },
    { label: 'Executions by tag', metric: 'executions', group_by: 'tag_key' },
    { label: 'Failures by tag', metric: 'failures', group_by: 'tag_key' },
    { label: 'Execution time', metric: 'latency' },
    { label: 'User data by field', metric: 'user_data', group_by: 'field' },
    { label: 'E-commerce by field', metric: 'ecommerce', group_by: 'field' },
    { label: 'Consent by class', metric: 'consent', group_by: 'field' },
    { label: 'Identifiers by field', metric: 'identifiers', group_by: 'field' },
    { label: 'Faults of values', metric: 'validity', group_by: 'field' },
    { label: 'Vendor responses by tag', metric: 'responses', group_by: 'tag_key' },
    { label: 'Score', metric: 'score' },
  ]
}
