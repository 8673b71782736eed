import type { VendorEntry, VendorSite, VendorSites } from '../../api/tags.ts'
import { counted, percent, unbroken, whole } from '../../lib/words.ts'

/** Stands in the address for tags without a known vendor. */
export const OTHER_TAGS = '(other)'

/** "3 of 14 sites", "–" when nothing fails. */
export const failingWords = ({ failing_sites, sites }: Pick<VendorEntry, 'failing_sites' | 'sites'>): string =>
  failing_sites === 0 ? '–' : `${whole(failing_sites)} of ${counted(sites, 'site')}`

/** "2 of 14 mixed", "one each"; "–" when no container reports its version. */
export function versionWords({ versions: { known, mixed } }: Pick<VendorEntry, 'versions'>): string {
  if (known === 0) return '–'
  return mixed === 0 ? 'one each' : `${whole(mixed)} of ${whole(known)} mixed`
}

/** Is it down for everyone? "Meta fails on 3 of 14 sites now". */
export function verdictWords({ name, failing_sites, total }: Pick<VendorSites, 'name' | 'failing_sites' | 'total'>) {
  if (total === 0) return `No site ran a tag of ${name} in the last 24 whole hours.`
  if (failing_sites === 0) return `No alert is open about ${name} on its ${counted(total, 'site')}.`
  const where =
    failing_sites >= total
      ? `all of its ${counted(total, 'site')}`
      : `${whole(failing_sites)} of its ${counted(total, 'site')}`
  return `${name} fails on ${where} now.`
}

export const rateWords = (rate: number | null): string => (rate === null ? '–' : percent(rate))
export const msWords = (ms: number | null): string => (ms === null ? '–' : unbroken(`${whole(ms)} ms`))

/** The other columns in one line, for phones: "8 % of 12,400 executions failed · p95 491 ms". */
export const phoneWords = ({ failure_rate, runs, p95_ms }: Pick<VendorSite, 'failure_rate' | 'runs' | 'p95_ms'>) =>
  [
    failure_rate === null
      ? counted(runs, 'execution')
      : `${percent(failure_rate)} of ${counted(runs, 'execution')} failed`,
    ...(p95_ms === null ? [] : [`p95 ${msWords(p95_ms)}`]),
  ].join(' · ')

/** How bad an hour was; null when nothing ran. */
export type Level = 0 | 1 | 2 | 3 | null

/** A log-like scale, so that one failure in a thousand is visible beside a thousand. */
const LEVELS: readonly [least: number, level: Level][] = [
  [0.25, 3],
  [0.05, 2],
  [0.02, 1],
]

export function levelOf(runs: number, bad: number): Level {
  if (runs <= 0) return null
  const share = bad / runs
  return LEVELS.find(([least]) => share >= least)?.[1] ?? 0
}

/** The strip for screen readers: "failed most from 14:00: 63 % of 120 executions". */
export function hoursInWords({ runs, bad }: VendorSite['hours'], timeOf: (index: number) => string): string {
  let worst = -1
  let most = 0
  for (const [index, count] of runs.entries()) {
    const share = count > 0 ? (bad[index] ?? 0) / count : 0
    if (share > most) [worst, most] = [index, share]
  }
  const ran = runs.filter((count) => count > 0).length
  if (ran === 0) return 'nothing ran'
  if (worst === -1) return `ran in ${counted(ran, 'hour')} and never failed`
  return `failed most from ${timeOf(worst)}: ${percent(Math.min(1, most))} of ${counted(runs[worst] ?? 0, 'execution')}`
}
