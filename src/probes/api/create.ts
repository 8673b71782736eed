import { AppError, invalidRequest, newId } from '../../lib/index.ts'
import { type Context, lockSite } from '../../management/index.ts'
import type { ProbeRow, SiteRow, Tables, Transaction } from '../../store/index.ts'
import { isAutomatic, isMet, needsInWords } from '../needs.ts'
import { mergedConfig, requireConfig } from '../probe-config.ts'
import type { ProbeType } from '../probe-type.ts'
import type { Registry } from '../registry.ts'
import { firstRunAt } from '../schedule.ts'
import { auditProbe } from './audit.ts'
import { minIntervalSeconds } from './record.ts'
import type { CreateProbe } from './schemas.ts'

/**
 * @throws AppError `invalid_request` naming the fault: no such site or type, a site that lacks what the type needs, an interval
 * too short for it, settings that do not fit its schema.
 */
export async function createProbe(ctx: Context, registry: Registry, input: CreateProbe): Promise<ProbeRow> {
  const type = registry.get(input.probe_type)
  if (type === undefined) throw invalidRequest('/probe_type', `must be one of ${[...registry.keys()].join(', ')}`)
  return ctx.store.write.transaction().execute(async (trx) => {
    // Deleting the site takes the same lock: no probe is added to one that is going.
    const site = await lockSite(trx, input.site_id)
    if (site === undefined) throw invalidRequest('/site_id', 'is not the id of a site')
    return insertProbe(trx, ctx, registry, type, site, input)
  })
}

/** Adds the probes that the site's fields allow, with default settings. The site was added in this transaction. */
export async function addAutomaticProbes(
  trx: Transaction<Tables>,
  ctx: Context,
  registry: Registry,
  site: SiteRow,
): Promise<void> {
  for (const type of registry.values()) {
    if (isAutomatic(type, site)) await insertProbe(trx, ctx, registry, type, site, {})
  }
}

async function insertProbe(
  trx: Transaction<Tables>,
  ctx: Context,
  registry: Registry,
  type: ProbeType,
  site: SiteRow,
  input: Omit<CreateProbe, 'site_id' | 'probe_type'>,
): Promise<ProbeRow> {
  if (!isMet(type.needs, site)) throw lacksFields(type)
  const config = mergedConfig({}, input.config ?? {})
  requireConfig(type, config)
  const interval = input.interval_seconds ?? type.defaultIntervalSeconds
  requireInterval(type, interval)
  const now = ctx.clock.now()
  const id = newId()
  const row: ProbeRow = {
    id,
    site_id: site.id,
    probe_type: type.name,
    name: input.name?.trim() ?? type.title,
    config: JSON.stringify(config),
    interval_seconds: interval,
    timeout_ms: input.timeout_ms ?? 10_000,
    failure_threshold: input.failure_threshold ?? 1,
    recovery_threshold: input.recovery_threshold ?? 1,
    is_active: Number(input.is_active ?? true),
    created_at: now,
    next_run_at: firstRunAt(id, interval, now),
    claimed_by: null,
    claimed_at: null,
    due_at: null,
    lost_runs: 0,
    last_status: null,
    last_reason: null,
    last_message: null,
    last_response_time_ms: null,
    last_result_at: null,
    consecutive_failures: 0,
    recent_statuses: '',
    subject_statuses: '{}',
    memory: '{}',
  }
  await trx.insertInto('probes').values(row).execute()
  await auditProbe(trx, ctx, registry, 'create', null, row)
  return row
}

/** @throws AppError `invalid_request` when the type may not run as often. */
export function requireInterval(type: ProbeType, seconds: number): void {
  const least = minIntervalSeconds(type)
  if (seconds < least) throw invalidRequest('/interval_seconds', `must be at least ${least} for ${type.name}`)
}

function lacksFields(type: ProbeType): AppError {
  const message = `is the id of a site without ${needsInWords(type.needs)}, which ${type.name} needs`
  return new AppError('invalid_request', `/site_id ${message}`, [{ path: '/site_id', message }])
}
