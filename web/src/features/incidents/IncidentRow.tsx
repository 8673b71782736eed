import { ActionIcon, Button, Checkbox, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BellOff, ChevronDown, ChevronRight } from 'lucide-react'
import { type IncidentSummary, incidentQuery } from '../../api/incidents.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { type Mute, mutesOfAll, type Scope } from '../../ui/mute/mutes.ts'
import { Awaited } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertList } from '../alerts/AlertList.tsx'
import { AlertTimes } from '../alerts/AlertTimes.tsx'
import inbox from '../alerts/alerts.module.css'
import { Handled } from '../alerts/inbox-parts.tsx'
import { sentence } from '../alerts/words.ts'
import { impactSentence } from './impact.ts'
import classes from './incidents.module.css'
import type { IncidentNode } from './rows.ts'
import { SilenceIncident } from './SilenceIncident.tsx'
import { causeWords, markOf, whereWords } from './words.ts'

export interface IncidentActions {
  mayChange: boolean
  acknowledge: (incident: IncidentSummary) => void
  select: (incident: IncidentSummary) => void
  /** The incident whose silence menu is open. */
  silencing: string | null
  setSilencing: (id: string | null) => void
  unfold: (id: string) => void
}

interface IncidentRowProps extends IncidentActions {
  node: IncidentNode
  directory: Directory
  mutes: readonly (Mute & Scope)[]
  isSelected: boolean
  isUnfolded: boolean
}

/** One incident: what, where, since when, who takes care of it, and, unfolded, its alerts. */
export function IncidentRow({ node, directory, mutes, isSelected, isUnfolded, ...actions }: IncidentRowProps) {
  const { incident, parts } = node
  const status = markOf(incident)
  const isOver = incident.state === 'resolved'
  const mute = isOver ? null : muteOfAll(node, mutes)
  const variant = mute !== null ? 'hatched' : incident.state === 'open' ? 'filled' : 'outline'
  const zone = directory.sites[incident.site_id ?? '']?.timezone
  return (
    <>
      <div className={`${inbox.row} ${classes.row}`} data-status={status} data-over={isOver || undefined}>
        <span className={inbox.check}>
          {actions.mayChange && incident.state === 'open' && (
            <Checkbox
              size="xs"
              aria-label={`Select: ${sentence(incident.title)}`}
              checked={isSelected}
              onChange={() => actions.select(incident)}
            />
          )}
        </span>
        <StatusMark status={status} variant={variant} label={STATUS_WORDS[status]} />
        <div className={inbox.what}>
          <Link
            to="/incidents/$incidentId"
            params={{ incidentId: incident.id }}
            className={inbox.title}
            data-key={incident.id}
            title={sentence(incident.title)}
          >
            {sentence(incident.title)}
          </Link>
          <span className={inbox.where}>
            {/* What is lost comes first: the end of a long line is cut. */}
            {[impactSentence(incident.impact), whereWords(incident, parts, directory), causeWords(incident)]
              .filter((part) => part !== null)
              .join(' · ')}
          </span>
        </div>
        <Handled mute={mute} status={status} acknowledgedBy={incident.acknowledged_by} zone={zone} />
        <Unfold incident={incident} isUnfolded={isUnfolded} onClick={() => actions.unfold(incident.id)} />
        <AlertTimes alert={incident} zone={zone} />
        <Actions node={node} mute={mute} zone={zone ?? ownZone()} {...actions} />
      </div>
      {isUnfolded && <Within id={incident.id} directory={directory} />}
    </>
  )
}

/** What mutes all of its alerts; null while one of them may speak. */
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

function Actions({
  node: { incident, alerts },
  mute,
  zone,
  mayChange,
  acknowledge,
  silencing,
  setSilencing,
}: IncidentActions & { node: IncidentNode; mute: Mute | null; zone: string }) {
  if (!mayChange || incident.state === 'resolved') return <span className={inbox.actions} />
  return (
    <span className={inbox.actions}>
      {incident.state === 'open' && (
        <Button size="compact-sm" variant="default" onClick={() => acknowledge(incident)}>
          Acknowledge
        </Button>
      )}
      {mute === null && (
        <SilenceIncident
          id={incident.id}
          alerts={alerts}
          zone={zone}
          opened={silencing === incident.id}
          onChange={(opened) => setSilencing(opened ? incident.id : null)}
        >
          <ActionIcon variant="default" size={26} aria-label="Silence" title="Silence">
            <BellOff size={14} aria-hidden />
          </ActionIcon>
        </SilenceIncident>
      )}
    </span>
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
