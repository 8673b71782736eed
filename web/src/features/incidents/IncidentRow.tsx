import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type IncidentSummary, incidentQuery } from '../../api/incidents.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { type Mute, mutesOfAll, type Scope } from '../../ui/mute/mutes.ts'
import { Awaited } from '../../ui/States.tsx'
import { AlertList } from '../alerts/AlertList.tsx'
import { InboxLine, type LineActions } from '../alerts/InboxLine.tsx'
import { Handled } from '../alerts/inbox-parts.tsx'
import { sentence } from '../alerts/words.ts'
import { impactSentence } from './impact.ts'
import classes from './incidents.module.css'
import type { IncidentNode } from './rows.ts'
import { SilenceIncident } from './SilenceIncident.tsx'
import { causeWords, joined, markOf, whereWords } from './words.ts'

interface IncidentRowProps extends LineActions<IncidentSummary> {
  node: IncidentNode
  directory: Directory
  mutes: readonly (Mute & Scope)[]
  isSelected: boolean
  isUnfolded: boolean
  unfold: (id: string) => void
}

/** One incident: what, where, since when, who is working on it, and its alerts when unfolded. */
export function IncidentRow({ node, directory, mutes, isUnfolded, unfold, ...line }: IncidentRowProps) {
  const { incident, alerts, parts } = node
  const status = markOf(incident)
  const mute = incident.state === 'resolved' ? null : muteOfAll(node, mutes)
  const zone = directory.sites[incident.site_id ?? '']?.timezone
  return (
    <>
      <InboxLine
        {...line}
        item={incident}
        link={{ to: '/incidents/$incidentId', params: { incidentId: incident.id } }}
        status={status}
        mute={mute}
        zone={zone}
        className={classes.row}
        // What is lost comes first, because the end of a long line is cut.
        where={joined([impactSentence(incident.impact), whereWords(incident, parts, directory), causeWords(incident)])}
        handled={
          <Handled
            mute={mute}
            status={status}
            acknowledgedBy={incident.acknowledged_by}
            zone={zone ?? (incident.site_id === null ? ownZone() : null)}
          />
        }
        count={<Unfold incident={incident} isUnfolded={isUnfolded} onClick={() => unfold(incident.id)} />}
        drawSilencing={(menu) => (
          <SilenceIncident id={incident.id} alerts={alerts} zone={zone ?? ownZone()} {...menu} />
        )}
      />
      {isUnfolded && <Within id={incident.id} directory={directory} />}
    </>
  )
}

/** What mutes all its alerts; null while one of them can still notify. */
const muteOfAll = ({ incident, alerts }: IncidentNode, mutes: readonly (Mute & Scope)[]): Mute | null =>
  mutesOfAll(mutes, incident.id, alerts)?.[0] ?? null

function Unfold({
  incident,
  isUnfolded,
  onClick,
}: {
  incident: IncidentSummary
  isUnfolded: boolean
  onClick: () => void
}) {
  const Chevron = isUnfolded ? ChevronDown : ChevronRight
  return (
    <UnstyledButton className={classes.unfold} aria-expanded={isUnfolded} onClick={onClick}>
      {counted(incident.alert_count, 'alert')}
      <span className="sr-only"> of {sentence(incident.title)}</span>
      <Chevron size={16} aria-hidden />
    </UnstyledButton>
  )
}

/** The alerts of an incident, below its line. */
function Within({ id, directory }: { id: string; directory: Directory }) {
  const { data, error, refetch } = useQuery(incidentQuery(id))
  return (
    <div className={classes.within}>
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={48} />
      ) : (
        <AlertList alerts={data.alerts} zone={undefined} siteOf={(alert) => directory.sites[alert.site_id]?.name} />
      )}
    </div>
  )
}
