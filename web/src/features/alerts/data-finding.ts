/** What one subject was judged by; a data probe writes it into the details of its results. */
export interface DataFinding {
  subject: { event_name?: string; tag_key?: string; field?: string }
  measured: number | null
  expected: number | null
  band: { low: number | null; high: number | null }
  evidence: Readonly<Record<string, unknown>>
}

type Fields = Readonly<Record<string, unknown>>

/** The worst finding in an alert's details; null when its probe does not judge data. */
export function findingIn(details: Fields): DataFinding | null {
  const [worst] = Array.isArray(details.findings) ? (details.findings as unknown[]) : []
  const fields = objectIn(worst)
  if (!('band' in fields)) return null
  const { subject, band } = fields
  return {
    subject: textsIn(subject),
    measured: numberIn(fields.measured),
    expected: numberIn(fields.expected),
    band: { low: numberIn(objectIn(band).low), high: numberIn(objectIn(band).high) },
    evidence: objectIn(fields.evidence),
  }
}

const objectIn = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const textsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectIn(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
