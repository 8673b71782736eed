import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import { auditedChange, type Fields } from './audit/change.ts'
import type { Context } from './context.ts'

type Verb =
  | 'create'
  | 'update'
  | 'delete'
  | 'revoke'
  | 'revoke_key'
  | 'acknowledge'
  | 'unacknowledge'
  | 'resolve'
  | 'retry'
  | 'test_notification'

export interface AuditEntry {
  entity: 'client' | 'status_link' | 'site' | 'probe' | 'alert' | 'silence' | 'maintenance' | 'delivery'
  verb: Verb
  id: string
  /** API records; null before a creation and after a deletion. */
  before: Fields | null
  after: Fields | null
}

/** Writes who changed what, in the transaction of the change: there is never one without the other. */
export async function writeAudit(
  trx: Transaction<Tables>,
  { clock, actor }: Pick<Context, 'clock' | 'actor'>,
  entries: readonly AuditEntry[],
): Promise<void> {
  const at = clock.now()
  const rows = entries.map(({ entity, verb, id, before, after }) => {
    const change = auditedChange(before, after)
    return {
      at,
      actor,
      action: `${entity}.${verb}`,
      entity,
      entity_id: id,
      before: change.before && JSON.stringify(change.before),
      after: change.after && JSON.stringify(change.after),
    }
  })
  for (const chunk of chunksOf(rows)) await trx.insertInto('audit_log').values(chunk).execute()
}
