import {
  ArrowUpRight,
  BellOff,
  CircleAlert,
  CircleCheck,
  GitMerge,
  Hand,
  Lightbulb,
  LogOut,
  type LucideIcon,
  MessageSquare,
  Network,
  PhoneForwarded,
  Plus,
  Radar,
  RotateCcw,
  Send,
} from 'lucide-react'
import type { IncidentDetail } from '../../api/incidents.ts'
import { TimelineLines } from '../alerts/Timeline.tsx'
import { HEADS, type IncidentLine, incidentLines } from './post-mortem.ts'
import { markOf } from './words.ts'

const ICONS: Readonly<Record<IncidentLine['kind'], LucideIcon>> = {
  first_sign: Radar,
  opened: CircleAlert,
  joined: Plus,
  explained: Lightbulb,
  belongs: Network,
  merged: GitMerge,
  left: LogOut,
  escalated: ArrowUpRight,
  next_on_call: PhoneForwarded,
  notified: Send,
  sent: Send,
  suppressed: BellOff,
  critical_only: BellOff,
  acknowledged: Hand,
  unacknowledged: Hand,
  noted: MessageSquare,
  resolved: CircleCheck,
  reopened: RotateCcw,
}

/** The incident's timeline, oldest first: first sign, opened, notified, acknowledged, explained, resolved. */
export function IncidentTimeline({ incident, zone }: { incident: IncidentDetail; zone: string | undefined }) {
  return (
    <TimelineLines
      lines={incidentLines(incident)}
      zone={zone}
      icons={ICONS}
      heads={HEADS}
      toneOf={(kind) => toneOf(kind, incident)}
    />
  )
}

/** The status that a line brought about. */
function toneOf(kind: IncidentLine['kind'], incident: IncidentDetail): string | undefined {
  switch (kind) {
    case 'first_sign':
    case 'opened':
    case 'reopened':
      return markOf(incident)
    case 'escalated':
      return 'critical'
    case 'resolved':
      return 'ok'
    default:
      return undefined
  }
}
