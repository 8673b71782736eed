import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useDeferredValue } from 'react'
import { type ProbeRecord, probesQuery, stripQuery } from '../../api/probes.ts'
import { counted, unbroken } from '../../lib/words.ts'
import { HeatStrip } from '../../ui/HeatStrip.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { bySeverity } from '../../ui/status/status.ts'
import { markOf, statusOf } from '../probes/list.ts'
import { CapturedPanel } from './CapturedPanel.tsx'
import { ChangesPanel } from './ChangesPanel.tsx'
import { EventsPanel } from './EventsPanel.tsx'
import { HeatPanel } from './HeatPanel.tsx'
import { heatRows } from './heat.ts'
import { LatencyPanel } from './LatencyPanel.tsx'
import type { Stretch } from './marks.ts'
import { OwnFieldsPanel } from './OwnFieldsPanel.tsx'
import { Note, Panel } from './Panel.tsx'
import { QualityPanel } from './QualityPanel.tsx'
import { ResponsesPanel } from './ResponsesPanel.tsx'
import { ConsentPanel, IdentifiersPanel, ValidityPanel } from './SignalPanels.tsx'
import classes from './SiteCharts.module.css'
import page from './site.module.css'
import { useSite } from './site-scope.ts'
import { UptimePanel } from './UptimePanel.tsx'

/** Maximum number of rows; more would need scrolling past, and the table has all tags. */
const ROWS = 12

/** The whole site on one time axis. */
export function SiteCharts() {
  const { report, view } = useSite()
  const { setFocus, setTab } = view
  const pick = useCallback((name: string, picked?: Stretch) => setFocus({ kind: 'tag', name }, picked), [setFocus])
  const rows = heatRows(report.tags, report.previous?.tags)
  const rest = rows.length - ROWS
  // Draw what is visible first; the rest follows in pieces.
  const hasFollowed = useDeferredValue(true, false)
  return (
    <div className={page.charts}>
      <EventsPanel />
      {rows.length > 0 && (
        <HeatPanel
          title="Tag health"
          group="tag_key"
          rows={rows.slice(0, ROWS)}
          onPick={pick}
          more={
            rest > 0 && (
              <Anchor component="button" size="sm" onClick={() => setTab('tags')}>
                {counted(rest, 'more tag')}
              </Anchor>
            )
          }
        />
      )}
      {hasFollowed && <Further />}
    </div>
  )
}

function Further() {
  const { site } = useSite()
  return (
    <>
      <LatencyPanel />
      <QualityPanel part="user_data" />
      <QualityPanel part="ecommerce" />
      <ValidityPanel />
      <IdentifiersPanel />
      <OwnFieldsPanel />
      <ConsentPanel />
      <CapturedPanel />
      <UptimePanel site={site} />
      <ResponsesPanel />
      <div className={page.pair}>
        <ProbesPanel />
        <div className={page.charts}>
          <ChangesPanel />
          <ContainersPanel />
        </div>
      </div>
    </>
  )
}

/** The containers that ever sent something, and when last, with the report's warnings. */
function ContainersPanel() {
  const { report, site } = useSite()
  return (
    <Panel title="Containers" unit="that ever sent something">
      {report.containers.length === 0 ? (
        <Note height={80}>No container has sent anything yet.</Note>
      ) : (
        <ul className={page.containers}>
          {report.containers.map(({ container_id, last_seen, clients }) => (
            <li key={container_id}>
              <code>{container_id}</code>
              <span className={page.muted}>
                <RelativeTime at={last_seen} zone={site.timezone} />
              </span>
              {clients.length > 0 && (
                <ul className={page.clients} aria-label={`Clients of ${container_id}`}>
                  {clients.map((client) => (
                    <li key={client.name}>
                      {client.name}
                      <span className={page.muted}>
                        <RelativeTime at={client.last_seen} zone={site.timezone} />
                      </span>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** The probes of the site with their latest results, worst first. */
function ProbesPanel() {
  const { site } = useSite()
  const { data, error, refetch } = useQuery(probesQuery(site.id))
  const probes = data
    ?.filter(({ is_active }) => is_active)
    .toSorted((a, b) => bySeverity(statusOf(a), statusOf(b)) || a.name.localeCompare(b.name))
  return (
    <Panel title="Probes" unit="last 50 results">
      {probes === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={200} />
      ) : probes.length === 0 ? (
        <Note height={120}>
          No probe watches this site: no one is notified when it breaks. Probes judge what it sends, and ask its tag
          server.
        </Note>
      ) : (
        <ul className={classes.probes}>
          {probes.map((probe) => (
            <Probe key={probe.id} probe={probe} zone={site.timezone} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Probe({ probe, zone }: { probe: ProbeRecord; zone: string }) {
  const { data: results = [] } = useQuery(stripQuery(probe))
  return (
    <li className={classes.probe}>
      <StatusMark {...markOf(probe)} />
      <span className={classes.name} title={probe.name}>
        {probe.name}
      </span>
      <span className={classes.results}>
        <HeatStrip results={results} zone={zone} />
      </span>
      <span className={classes.message}>{unbroken(probe.last_message ?? 'waiting for its first result')}</span>
      <span className={classes.when}>
        <RelativeTime at={probe.last_result_at} zone={zone} never="" />
      </span>
    </li>
  )
}
