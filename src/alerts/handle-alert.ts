import { AppError, notFound } from '../lib/index.ts'
import { type Context, signedBy, writeAudit } from '../management/index.ts'
import type { ChannelSettings } from '../notifications/index.ts'
import type { AlertRow } from '../store/index.ts'
import { alertRecord, type Handling } from './alert-record.ts'
import { transition } from './machine/transition.ts'
import type { AlertInput } from './machine/types.ts'
import { loadMutes } from './mutes.ts'
import { loadContext, rulesOf } from './rules.ts'
import { lockAlert, writeTransitions } from './write-transitions.ts'

/**
 * Acknowledges an alert, which stops its reminders. The first person stays its `acknowledged_by`; each comment goes into the
 * timeline.
 *
 * @throws AppError `not_found`, or `conflict` when it is resolved
 */
export async function acknowledgeAlert(
  ctx: Context,
  channelSettings: ChannelSettings,
  id: string,
  input: Handling,
): Promise<AlertRow> {
  return handle(ctx, channelSettings, id, 'acknowledge', (alert) => {
    if (alert.state === 'resolved') throw new AppError('conflict', 'The alert is already resolved')
    return { type: 'acknowledged', by: signedBy(ctx, input.by), comment: input.comment?.trim() || null }
  })
}

/**
 * Withdraws an acknowledgement, so that reminders resume. An alert that is not acknowledged stays as it is.
 *
 * @throws AppError `not_found`, or `conflict` when it is resolved
 */
export async function unacknowledgeAlert(
  ctx: Context,
  channelSettings: ChannelSettings,
  id: string,
  input: Handling,
): Promise<AlertRow> {
  return handle(ctx, channelSettings, id, 'unacknowledge', (alert) => {
    if (alert.state === 'resolved') throw new AppError('conflict', 'The alert is already resolved')
    return { type: 'unacknowledged', by: signedBy(ctx, input.by), comment: input.comment?.trim() || null }
  })
}

/**
 * Resolves an alert by hand. The next bad result opens a new one. A resolved alert stays as it is.
 *
 * @throws AppError `not_found`
 */
export async function resolveAlert(
  ctx: Context,
  channelSettings: ChannelSettings,
  id: string,
  input: Handling,
): Promise<AlertRow> {
  return handle(ctx, channelSettings, id, 'resolve', (alert) =>
    alert.state === 'resolved'
      ? null
      : { type: 'resolved', by: signedBy(ctx, input.by), comment: input.comment?.trim() || null },
  )
}

async function handle(
  ctx: Context,
  channelSettings: ChannelSettings,
  id: string,
  verb: 'acknowledge' | 'unacknowledge' | 'resolve',
  inputOf: (alert: AlertRow) => AlertInput | null,
): Promise<AlertRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockAlert(trx, id)
    if (before === undefined) throw notFound('Alert')
    const input = inputOf(before)
    const now = ctx.clock.now()
    const mutes = await loadMutes(trx, now)
    const context = await loadContext(trx, {
      probeIds: [before.probe_id],
      mutes,
      channelSettings,
      now,
    })
    const source = context.sources.get(before.probe_id)
    // Without a source its probe was just deleted, and upkeep is about to close the alert.
    if (input === null || source === undefined) return before
    const rules = rulesOf(before, source, context)
    const step = transition(before, input, rules, now)
    await writeTransitions(trx, ctx.store, [{ before, transition: step, source }], context)
    const after = step.alert ?? before
    if (after === before) return before
    await writeAudit(trx, ctx, [{ entity: 'alert', verb, id, before: handlingOf(before), after: handlingOf(after) }])
    return after
  })
}

/** What people change. The rest, such as what mutes the alert, follows from other things and may have changed at the same moment. */
function handlingOf(row: AlertRow) {
  const { client_id, state, acknowledged_at, acknowledged_by, resolved_at, resolution } = alertRecord(row)
  return { client_id, state, acknowledged_at, acknowledged_by, resolved_at, resolution }
}
