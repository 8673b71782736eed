import { newOrderedId } from '../lib/index.ts'
import type { Reach } from '../notifications/index.ts'
import { type Finished, WHOLE } from '../probes/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'
import { adoptAlerts } from './adopt.ts'
import { type AlertContext, loadContext } from './context.ts'
import { isGone } from './gone.ts'
import { type Judgement, judgementsOf } from './judgements.ts'
import { lockUnresolved } from './locks.ts'
import { type AlertInput, transition } from './machine.ts'
import { markMaintained } from './mark-maintained.ts'
import { loadQuiet } from './quiet.ts'
import { rulesOf } from './rules.ts'
import { startOf } from './started.ts'
import { type PendingTransition, writeTransitions } from './write-transitions.ts'

/** Of an alert that is not there yet. */
const NEW = { state: 'open', suppressed_by: null, announced_at: null, last_seen_at: 0, resolved_at: null }

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
  const probeIds = written.map(({ probe }) => probe.id)
  const unresolved = await lockUnresolved(trx, store, probeIds)
  const { alerts, replaced } = await adoptAlerts(trx, written, unresolved, now)
  const judgements = judgementsOf(written, alerts)
  if (judgements.length === 0 && replaced.length === 0) return
  const context = await loadContext(trx, { probeIds, alerts, quiet, reach, now })
  const pending = [...replaced]
  for (const judgement of judgements) pending.push(...(await pendingOf(trx, judgement, context, now)))
  await writeTransitions(trx, pending, reach, now)
}

async function pendingOf(
  trx: Transaction<Tables>,
  judgement: Judgement,
  context: AlertContext,
  now: number,
): Promise<PendingTransition[]> {
  const { finished, key, streak, violation, events, alert } = judgement
  const source = context.sources.get(finished.probe.id)
  // Run by hand while switched off, or switched off during the run: the result stays a result.
  if (source === undefined || !source.isActive) return []
  const identity = {
    id: newOrderedId(now),
    client_id: source.client.id,
    site_id: source.site.id,
    probe_id: finished.probe.id,
    probe_type: finished.probe.probe_type,
    subject: key,
  }
  const startedAt = alert === null ? await startOf(trx, judgement) : (judgement.startedAt ?? alert.started_at)
  const input: AlertInput =
    alert !== null && (await isGone(trx, judgement, alert, now))
      ? { type: 'gone' }
      : { type: 'result', streak, violation, startedAt, events, identity }
  const before = alert ?? { ...NEW, ...identity, ...violation, started_at: startedAt }
  const about = streak.verdict === 'bad' ? { ...before, severity: violation.severity, last_seen_at: now } : before
  const made = transition(alert, input, rulesOf(about, source, context), now)
  const { outages } = context
  const known = outages.findIndex(({ id }) => id === made.alert?.id)
  // What another probe found in the same batch may be the same outage.
  if (made.alert !== null && key === WHOLE) outages.splice(known === -1 ? outages.length : known, 1, made.alert)
  return [{ before: alert, transition: made, source }]
}
