import type { AuditRecord } from '../../api/audit.ts'
import { exact } from '../../lib/words.ts'

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

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** A time of the interface on the reader's own clock; undefined for what is none. @param zone by default that of the browser */
export const localTime = (text: string, zone?: string): string | undefined =>
  ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)) ? exact(Date.parse(text), zone) : undefined
