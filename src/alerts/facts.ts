import { duration, MINUTE, number, percent } from '../lib/index.ts'
import type { Fact } from '../notifications/index.ts'

type Fields = Readonly<Record<string, unknown>>

const FACTS_MAX = 8

/** The figures that an alert takes from the details (JSON) of a result, which each type of probe writes as it likes. */
export function factsOf(probeType: string, details: string): Fact[] {
  const fields = objectIn(JSON.parse(details))
  const finding = objectIn(Array.isArray(fields.findings) ? fields.findings[0] : undefined)
  const facts = [...subjectFacts(finding), ...measureFacts(probeType, finding), ...answerFacts(fields)]
  return facts.slice(0, FACTS_MAX)
}

/** Which event, tag or field it is about. */
function subjectFacts(finding: Fields): Fact[] {
  const subject = objectIn(finding.subject)
  const named = [
    ['Tag', subject.tag_key],
    ['Event', subject.event_name],
    ['Field', subject.field],
  ] as const
  return named.flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []))
}

function measureFacts(probeType: string, finding: Fields): Fact[] {
  const figure = figureOf(probeType, finding)
  const fact = (name: string, value: unknown): Fact[] =>
    typeof value === 'number' ? [{ name, value: figure(value) }] : []
  const { low, high } = objectIn(finding.band)
  const measured = typeof finding.measured === 'number' ? finding.measured : null
  // Of the two bounds the one that was passed.
  const isAbove = measured !== null && typeof high === 'number' && measured > high
  return [
    ...fact('Measured', finding.measured),
    ...fact('Usual', finding.expected),
    ...(isAbove ? fact('Allowed up to', high) : fact('Allowed from', low)),
  ]
}

/** What the target said, of the probes that ask it. */
function answerFacts(fields: Fields): Fact[] {
  const status = fields.status
  return typeof status === 'number' ? [{ name: 'HTTP status', value: String(status) }] : []
}

/** How a figure of this probe is read: they are counts where nothing else is said. */
function figureOf(probeType: string, finding: Fields): (value: number) => string {
  switch (probeType) {
    case 'tag_failure_rate':
    case 'tag_missing':
      return percent
    case 'user_data_quality':
    case 'ecommerce_quality':
      return 'field' in objectIn(finding.subject) ? percent : (value) => `${number(value)} of 100`
    case 'tag_latency':
      return (value) => `${number(value)} ms`
    case 'data_freshness':
      return (value) => duration(value * MINUTE)
    default:
      return number
  }
}

const objectIn = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
