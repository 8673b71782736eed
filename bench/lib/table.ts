/** One load measured on Tagwarden and, in the same run, on the bare server. */
export interface Measurement {
  scenario: string
  barePerSecond: number
  perSecond: number
  /** Tagwarden's requests/s as a share of the bare server's. */
  ratio: number
  /** Processor time of the bare server per request, µs. */
  bareMicros: number
  /** That of Tagwarden, folding included. */
  micros: number
  p50Ms: number
  p99Ms: number
  target: string
  reached: boolean
}

/** Anything else that was to be held. */
export interface Check {
  what: string
  value: string
  target: string
  reached: boolean
}

export const check = (what: string, value: string, target: string, reached: boolean): Check => ({
  what,
  value,
  target,
  reached,
})

export interface Outcome {
  measurements: Measurement[]
  checks: Check[]
}

/** The outcome as Markdown, which reads as well on a terminal. */
export function outcomeText({ measurements, checks }: Outcome): string {
  const parts: string[] = []
  if (measurements.length > 0) parts.push(measurementTable(measurements))
  if (checks.length > 0) parts.push(checkTable(checks))
  return parts.join('\n\n')
}

function measurementTable(measurements: readonly Measurement[]): string {
  const head = [
    'scenario',
    'bare, requests/s',
    'Tagwarden, requests/s',
    'ratio',
    'processor time, µs',
    'p50',
    'p99',
    'target',
    'reached',
  ]
  const rows = measurements.map((row) => [
    row.scenario,
    grouped(row.barePerSecond),
    grouped(row.perSecond),
    row.ratio.toFixed(2),
    `${row.bareMicros.toFixed(1)} → ${row.micros.toFixed(1)}`,
    milliseconds(row.p50Ms),
    milliseconds(row.p99Ms),
    row.target,
    yesNo(row.reached),
  ])
  return markdownTable(head, rows)
}

function checkTable(checks: readonly Check[]): string {
  const rows = checks.map(({ what, value, target, reached }) => [what, value, target, yesNo(reached)])
  return markdownTable(['check', 'measured', 'target', 'reached'], rows)
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

export const grouped = (value: number): string => Math.round(value).toLocaleString('en-US')

export const milliseconds = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`

const yesNo = (reached: boolean): string => (reached ? 'yes' : 'no')
