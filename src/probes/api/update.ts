import { invalidRequest, notFound } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import type { ProbeRow, Tables, Transaction } from '../../store/index.ts'
import { mergedConfig, requireConfig } from '../probe-config.ts'
import type { Registry } from '../registry.ts'
import { nextRunAt } from '../schedule.ts'
import { auditProbe } from './audit.ts'
import { requireInterval } from './create.ts'
import { givenConfig } from './record.ts'
import type { UpdateProbe } from './schemas.ts'

/**
 * Changes the given fields, and of the settings those that are named. What is already so leaves no trace in the audit log.
 *
 * @throws AppError `not_found`, or `invalid_request` when the settings or the interval do not fit the type.
 */
export async function updateProbe(ctx: Context, registry: Registry, id: string, patch: UpdateProbe): Promise<ProbeRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockProbe(trx, id)
    if (before === undefined) throw notFound('Probe')
    const after = applyToProbe(registry, before, patch, ctx.clock.now())
    const changed = changedSettings(before, after)
    if (Object.keys(changed).length === 0) return before
    await trx.updateTable('probes').set(changed).where('id', '=', id).execute()
    await auditProbe(trx, ctx, registry, 'update', before, after)
    return after
  })
}

/** Reads a probe and keeps others from changing it until the transaction ends; undefined when there is none. */
async function lockProbe(trx: Transaction<Tables>, id: string): Promise<ProbeRow | undefined> {
  return trx
    .updateTable('probes')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

function applyToProbe(registry: Registry, row: ProbeRow, patch: UpdateProbe, now: number): ProbeRow {
  const { name, config, is_active, ...numbers } = patch
  const type = registry.get(row.probe_type)
  const after: ProbeRow = {
    ...row,
    ...numbers,
    name: name === undefined ? row.name : name.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
  }
  if (config !== undefined) {
    if (type === undefined) throw invalidRequest('/config', `of type ${row.probe_type} is not known to this program`)
    const merged = mergedConfig(givenConfig(row), config)
    requireConfig(type, merged)
    after.config = JSON.stringify(merged)
  }
  if (type !== undefined && patch.interval_seconds !== undefined) requireInterval(type, after.interval_seconds)
  // What was missed while it was inactive, or by another rhythm, is not made up for.
  if (after.interval_seconds !== row.interval_seconds || after.is_active > row.is_active) {
    after.next_run_at = nextRunAt(row.id, after.interval_seconds, now)
  }
  return after
}

const SETTABLE = [
  'name',
  'config',
  'interval_seconds',
  'timeout_ms',
  'failure_threshold',
  'recovery_threshold',
  'is_active',
  'next_run_at',
] as const

const changedSettings = (before: ProbeRow, after: ProbeRow): Partial<ProbeRow> =>
  Object.fromEntries(SETTABLE.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]))
