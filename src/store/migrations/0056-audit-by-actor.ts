import type { Migration } from './types.ts'

/** Who did what: without an index a name that did little, or nothing, was looked for in every change there ever was. */
export const auditByActor: Migration = {
  name: '0056-audit-by-actor',
  statements: () => ['create index audit_log_by_actor on audit_log (actor, id)'],
}
