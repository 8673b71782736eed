import { type Finished, type Subject, subjectKey, subjectLabel, WHOLE } from '../probes/index.ts'
import type { AlertRow, Tables, Transaction } from '../store/index.ts'
import { SILENT, transition } from './machine.ts'
import type { PendingTransition } from './write-transitions.ts'

/**
 * Earlier versions had one alert for all that a probe found. With the first result after the upgrade it becomes the alert of the
 * subject that its last bad result named; where that is not known it closes without a message, and what is bad opens alerts again.
 */
export async function adoptAlerts(
  trx: Transaction<Tables>,
  written: readonly Finished[],
  alerts: readonly AlertRow[],
  now: number,
): Promise<{ alerts: AlertRow[]; replaced: PendingTransition[] }> {
  const bySubject = new Set(
    written.flatMap(({ probe, subjects, judgesSubjects }) => (judgesSubjects && subjects !== null ? [probe.id] : [])),
  )
  const kept: AlertRow[] = []
  const replaced: PendingTransition[] = []
  for (const alert of alerts) {
    const subject = alert.subject === WHOLE && bySubject.has(alert.probe_id) ? subjectIn(alert.details) : {}
    const key = subject === null ? null : subjectKey(subject)
    const isTaken = alerts.some((other) => other.probe_id === alert.probe_id && other.subject === key)
    if (key === WHOLE) kept.push(alert)
    else if (subject === null || key === null || isTaken) {
      replaced.push({
        before: alert,
        transition: transition(alert, { type: 'replaced' }, SILENT, now),
        source: undefined,
      })
    } else {
      const renamed = { subject: key, subject_label: subjectLabel(subject) }
      await trx.updateTable('alerts').set(renamed).where('id', '=', alert.id).execute()
      kept.push({ ...alert, ...renamed })
    }
  }
  return { alerts: kept, replaced }
}

/** What an alert's details are about; null when they do not say. */
function subjectIn(details: string): Subject | null {
  const { findings } = JSON.parse(details) as { findings?: readonly { subject?: Subject }[] }
  const subject = Array.isArray(findings) ? findings[0]?.subject : undefined
  if (subject === undefined) return null
  // An alert of a tag is about all events that it should run on.
  return subject.tag_key === undefined ? subject : { tag_key: subject.tag_key }
}
