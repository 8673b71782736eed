import { namesInWords } from '../lib/index.ts'
import type { AlertMessage, AlertMessageKind, Fact } from '../notifications/index.ts'
import type { AlertRow } from '../store/index.ts'
import type { AlertSource, Marker } from './context.ts'
import { factsOf } from './facts.ts'
import { badEventsOf } from './machine.ts'
import { resolutionOf, severityOf, stateOf } from './record.ts'
import { changeInWords } from './wording.ts'

/** The message about an alert as it is now. @param before as it was at the last message */
export function alertMessage(
  kind: AlertMessageKind,
  before: AlertRow | null,
  alert: AlertRow,
  { client, site, probe }: AlertSource,
  change: Marker | undefined,
  resolvedBy: string | null,
): AlertMessage {
  const facts = [...(kind === 'widened' ? newEvents(before, alert) : []), ...factsOf(alert.probe_type, alert.details)]
  return {
    kind,
    alert: {
      id: alert.id,
      severity: severityOf(alert),
      state: stateOf(alert),
      title: alert.title,
      message: alert.message,
      since: alert.started_at,
      opened_at: alert.opened_at,
      resolved_at: alert.resolved_at,
      resolution: resolutionOf(alert),
      resolved_by: resolvedBy,
      occurrences: alert.occurrences,
    },
    client: { id: client.id, name: client.name },
    site,
    probe,
    facts,
    change: change === undefined ? null : changeInWords(change, alert.started_at),
  }
}

/** The title names the worst event, which people may know already. */
const newEvents = (before: AlertRow | null, alert: AlertRow): Fact[] => [
  { name: 'Now also on', value: namesInWords(badEventsOf(alert).slice(before?.told_events ?? 0)) },
]
