import type { Config } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** Headers that requests have anyway. The first of the configured headers that is there counts as the key. */
const ALWAYS_THERE = [
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]

/** Null when nothing is wrong with the headers, which are the default's nearly always. */
export function keyHeadersFinding({ ingestKeyHeaders }: Config): DoctorFinding | null {
  const wrong = ingestKeyHeaders.filter((name) => ALWAYS_THERE.includes(name))
  if (wrong.length === 0) return null
  const text = `${wrong.join(', ')} is in every request and is no key, so tags would be answered 401: leave it out`
  return { check: 'INGEST_KEY_HEADERS', level: 'warning', text }
}
