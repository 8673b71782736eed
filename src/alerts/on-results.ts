import { newOrderedId } from '../lib/index.ts'
import type { Reach } from '../notifications/index.ts'
import type { Finished } from '../probes/index.ts'
import { type AlertRow, chunksOf, type Store, type Tables, type Transaction } from '../store/index.ts'
import { type Rules, type Standing, type Subject, standingOf, transition } from './machine.ts'
import { loadQuiet, type Quiet, type QuietReason, quietFor } from './quiet.ts'
import { type Place, placesOf } from './surroundings.ts'
import { lockUnresolved } from './unresolved.ts'
import { complaintOf } from './wording.ts'
import { type Step, writeTransitions } from './write-transitions.ts'

/** A result and what it may change. */
interface Work {
  finished: Finished
  subject: Subject
  standing: Standing
  alert: AlertRow | null
}

/**
 * Decides what results mean for alerts, and writes it in the transaction that writes the results: a crash leaves both or
 * neither. Nearly all results are good and of probes without an alert; they cost three small reads in all.
 */
export async function judgeResults(
  trx: Transaction<Tables>,
  store: Pick<Store, 'isShared'>,
  written: readonly Finished[],
  reach: Reach,
  now: number,
): Promise<void> {
  const quiet = await loadQuiet(trx, now)
  await markMaintained(trx, written, quiet, now)
  const alerts = await lockUnresolved(
    trx,
    store,
    written.map(({ probe }) => probe.id),
  )
  const work = workOf(written, alerts)
  if (work.length === 0) return
  const places = await placesOf(
    trx,
    work.map(({ finished }) => finished.probe.id),
  )
  const steps = work.flatMap((one): Step[] => {
    const place = places.get(one.finished.probe.id)
    // Run by hand while switched off, or switched off during the run: the result stays a result.
    if (place === undefined || !place.isActive) return []
    const { subject, standing, finished, alert } = one
    const identity = {
      id: newOrderedId(now),
      client_id: place.client.id,
      site_id: place.site.id,
      probe_id: finished.probe.id,
      probe_type: finished.probe.probe_type,
      subject,
    }
    const happening = { type: 'result', standing, complaint: complaintOf(subject, finished), identity } as const
    const rules = rulesOf(subject, place, quietAt(quiet, place, now))
    return [{ before: alert, transition: transition(alert, happening, rules, now), place }]
  })
  await writeTransitions(trx, steps, reach, now)
}

/** What there is to decide: bad results, and those of probes that have an alert. */
function workOf(written: readonly Finished[], alerts: readonly AlertRow[]): Work[] {
  const keyOf = (probeId: string, subject: string) => `${subject} ${probeId}`
  const bySubject = new Map(alerts.map((alert) => [keyOf(alert.probe_id, alert.subject), alert]))
  return written.flatMap((finished) =>
    (['target', 'check'] as const).flatMap((subject) => {
      const alert = bySubject.get(keyOf(finished.probe.id, subject)) ?? null
      const standing = standingOf(subject, finished.recentStatuses)
      return alert === null && standing.verdict !== 'bad' ? [] : [{ finished, subject, standing, alert }]
    }),
  )
}

export const quietAt = ({ silences, maintenances }: Quiet, { client, site, probe }: Place, now: number) =>
  quietFor({ clientId: client.id, siteId: site.id, probeId: probe.id }, silences, maintenances, now)

/** Errors have a threshold of their own, so that about the check itself the probe's do not count. */
export function rulesOf(subject: Subject, place: Place, quiet: QuietReason | null): Rules {
  const isTarget = subject === 'target'
  return {
    failureThreshold: isTarget ? place.failureThreshold : 1,
    recoveryThreshold: isTarget ? place.recoveryThreshold : 1,
    reminderMinutes: place.reminderMinutes,
    notifyResolved: place.notifyResolved,
    notifyEscalated: place.notifyEscalated,
    quietBy: quiet?.by ?? null,
  }
}

/** Results found during maintenance say so, for those who judge a site's past by them. */
async function markMaintained(
  trx: Transaction<Tables>,
  written: readonly Finished[],
  { maintenances }: Quiet,
  now: number,
): Promise<void> {
  if (maintenances.length === 0) return
  const byMaintenance = new Map<string, Finished[]>()
  for (const finished of written) {
    const { site, probe } = finished
    const target = { clientId: site.client_id, siteId: site.id, probeId: probe.id }
    const id = quietFor(target, [], maintenances, now)?.maintenanceId
    if (typeof id === 'string') byMaintenance.set(id, [...(byMaintenance.get(id) ?? []), finished])
  }
  for (const [id, marked] of byMaintenance) {
    for (const chunk of chunksOf(marked)) {
      await trx
        .updateTable('probe_results')
        .set({ maintenance_id: id })
        .where(
          'probe_id',
          'in',
          chunk.map(({ probe }) => probe.id),
        )
        .where(
          'id',
          'in',
          chunk.map(({ result }) => result.id),
        )
        .execute()
    }
  }
}
