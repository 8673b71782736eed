import { saidOf } from '../analytics/index.ts'
import { fieldsOf } from '../lib/index.ts'
import type { Tables, Transaction } from '../store/index.ts'

/**
 * Returns the vendor that people have set for the tag of an alert that opens, or null. The alert keeps it: a later setting applies
 * to alerts that open after it.
 *
 * @param details of its first bad result (JSON)
 */
export async function vendorSaidOf(trx: Transaction<Tables>, siteId: string, details: string): Promise<string | null> {
  const { findings } = fieldsOf(JSON.parse(details))
  const finding = fieldsOf(Array.isArray(findings) ? findings[0] : undefined)
  const tag = fieldsOf(finding.subject).tag_key
  if (typeof tag !== 'string') return null
  const said = await saidOf(trx, [siteId])
  return said(siteId, tag) ?? null
}
