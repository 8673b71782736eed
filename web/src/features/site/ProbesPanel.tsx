import { useQuery } from '@tanstack/react-query'
import { type ProbeRecord, probesQuery, stripQuery } from '../../api/probes.ts'
import { Awaited } from '../../ui/Awaited.tsx'
import { HeatStrip } from '../../ui/HeatStrip.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { bySeverity, STATUS_WORDS, unjudgedWords } from '../../ui/status/status.ts'
import { statusOf } from '../probes/list.ts'
import { Note } from './Note.tsx'
import { Panel } from './Panel.tsx'
import classes from './ProbesPanel.module.css'
import { useSite } from './site-scope.ts'

/** The probes of the site with their last results, the worst first. */
export function ProbesPanel() {
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
  const status = statusOf(probe)
  return (
    <li className={classes.probe}>
      <StatusMark status={status} label={unjudgedWords(probe, probe.last_message) ?? STATUS_WORDS[status]} />
      <span className={classes.name}>{probe.name}</span>
      <span className={classes.results}>
        <HeatStrip results={results} zone={zone} />
      </span>
      <span className={classes.message}>{probe.last_message ?? 'waiting for its first result'}</span>
      <span className={classes.when}>
        <RelativeTime at={probe.last_result_at} zone={zone} never="" />
      </span>
    </li>
  )
}
