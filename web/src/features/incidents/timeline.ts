import type { IncidentDetail } from '../../api/incidents.ts'
import { isDetectedAtOnce } from '../../lib/onset.ts'
import { type TimelineLine, timelineOf } from '../alerts/timeline.ts'

type Kind = IncidentDetail['timeline'][number]['kind'] | 'first_sign'
export type IncidentLine = TimelineLine<Kind>

type Story = Pick<IncidentDetail, 'started_at' | 'opened_at' | 'timeline' | 'deliveries' | 'alerts'>

/** The timeline of an incident, oldest first, with its first sign if it was detected later. */
export function incidentLines(incident: Story): IncidentLine[] {
  const lines = timelineOf<Kind>(incident)
  if (isDetectedAtOnce(incident)) return lines
  const { started_at, alerts } = incident
  const [first] = alerts.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
  const text = first?.title ?? ''
  return [{ key: 'first', kind: 'first_sign', at: started_at, actor: null, text, deliveries: [] }, ...lines]
}

/** What a line begins with, where its text does not say it already. */
export const HEADS: Readonly<Partial<Record<IncidentLine['kind'], string>>> = {
  first_sign: 'First sign',
  opened: 'Opened',
  joined: 'An alert joined',
  explained: 'Cause added',
  belongs: 'Part of a larger incident',
  escalated: 'Became critical',
  next_on_call: 'Next on call',
  notified: 'Notified',
  sent: 'Notified',
  suppressed: 'Not notified',
  critical_only: 'Not notified',
  acknowledged: 'Acknowledged',
  unacknowledged: 'No longer acknowledged',
  noted: 'Note',
  resolved: 'Resolved',
  reopened: 'Open again',
}
