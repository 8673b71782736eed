import type { AuditRecord } from '../../api/audit.ts'

/** One field of a change. Null: there was or is nothing. */
export interface FieldChange {
  field: string
  before: string | null
  after: string | null
}

/** Of no use to people: ids of the thing itself, and what every new thing has. */
const LEFT_OUT = new Set(['id', 'created_at'])

/** The fields that a change has touched. */
export function changesOf({ before, after }: Pick<AuditRecord, 'before' | 'after'>): FieldChange[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return fields
    .filter((field) => !LEFT_OUT.has(field))
    .map((field) => ({ field, before: textOf(before?.[field]), after: textOf(after?.[field]) }))
    .filter((change) => change.before !== null || change.after !== null)
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
