import type { Context } from '../../management/index.ts'
import { writeAudit } from '../../management/index.ts'
import type { ProbeRow, Tables, Transaction } from '../../store/index.ts'
import { secretNames } from '../probe-config.ts'
import type { Registry } from '../registry.ts'
import { givenConfig } from './record.ts'

type Verb = 'create' | 'update' | 'delete'
type Fields = Readonly<Record<string, unknown>>

/** Writes who created, changed or deleted a probe, each setting separately and no secret. */
export async function auditProbe(
  trx: Transaction<Tables>,
  ctx: Context,
  registry: Registry,
  verb: Verb,
  before: ProbeRow | null,
  after: ProbeRow | null,
): Promise<void> {
  const id = (after ?? before)?.id
  if (id === undefined) return
  await writeAudit(trx, ctx, [
    {
      entity: 'probe',
      verb,
      id,
      before: before && auditFields(registry, before, null),
      after: after && auditFields(registry, after, before),
    },
  ])
}

function auditFields(registry: Registry, row: ProbeRow, before: ProbeRow | null): Fields {
  const type = registry.get(row.probe_type)
  const secrets = type === undefined ? [] : secretNames(type)
  const earlier = before === null ? {} : givenConfig(before)
  const config = Object.entries(givenConfig(row)).map(([name, value]) => {
    const isNew = name in earlier && earlier[name] !== value
    return [`config.${name}`, secrets.includes(name) ? (isNew ? '… (another)' : '…') : auditValue(value)]
  })
  return {
    site_id: row.site_id,
    probe_type: row.probe_type,
    name: row.name,
    interval_seconds: row.interval_seconds,
    timeout_ms: row.timeout_ms,
    failure_threshold: row.failure_threshold,
    recovery_threshold: row.recovery_threshold,
    is_active: row.is_active === 1,
    ...Object.fromEntries(config),
  }
}

/** Values are compared as they are: lists become texts. */
const auditValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value
