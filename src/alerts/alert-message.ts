import type { AlertMessage, AlertMessageKind } from '../notifications/index.ts'
import type { AlertRow } from '../store/index.ts'
import { factsOf } from './finding.ts'
import { resolutionOf, severityOf, stateOf } from './record.ts'
import type { Marker, Place } from './surroundings.ts'
import { changeInWords } from './wording.ts'

/** What people are told of an alert, as it is now. */
export function alertMessage(
  kind: AlertMessageKind,
  alert: AlertRow,
  { client, site, probe }: Place,
  change: Marker | undefined,
  resolvedBy: string | null,
): AlertMessage {
  const facts = factsOf(alert.probe_type, alert.details)
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
