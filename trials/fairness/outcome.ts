import { type Check, check, grouped, markdownTable, milliseconds, outcomeText } from '../../bench/lib/table.ts'
import { ALONE, type FairnessResult } from './fairness.ts'

/** Healthy p99 beside a hostile sender next to that alone … */
export const P99_RATIO = 3
/** … with this much for a machine that does other things: below it no one is slowed down. */
const P99_LEEWAY_MS = 25
const VISIBLE_MS = 5_000
const MEMORY_MB = 1_500

/** The run as Markdown: the healthy sites beside each kind of hostile sender, and what was to be held. */
export function fairnessText(result: FairnessResult): string {
  const head = [
    'hostile sender',
    'healthy p50',
    'p99',
    'p99 ÷ alone',
    'longest',
    'not answered 200',
    'visible after, longest',
    'memory, peak',
    'its own answers',
  ]
  const alone = aloneP99(result)
  const rows = result.rows.map((row) => [
    row.name,
    milliseconds(row.healthy.p50Ms),
    milliseconds(row.healthy.p99Ms),
    (row.healthy.p99Ms / alone).toFixed(1),
    milliseconds(row.healthy.maxMs),
    grouped(row.healthy.notAccepted),
    `${(row.visibility.longestMs / 1_000).toFixed(1)} s`,
    `${grouped(row.peakMb)} MB`,
    row.hostile === null ? '' : answersText(row.hostile.statuses),
  ])
  return [markdownTable(head, rows), outcomeText({ measurements: [], checks: fairnessChecks(result) })].join('\n\n')
}

export function fairnessChecks(result: FairnessResult): Check[] {
  const { rows, counted, hostileCounted, log } = result
  const attacked = rows.filter(({ name }) => name !== ALONE)
  const limit = Math.max(P99_RATIO * aloneP99(result), P99_LEEWAY_MS)
  const p99 = Math.max(...attacked.map(({ healthy }) => healthy.p99Ms))
  const visible = Math.max(...attacked.map(({ visibility }) => visibility.longestMs))
  const measured = Math.min(...attacked.map(({ visibility }) => visibility.measured))
  const peak = Math.max(...rows.map(({ peakMb }) => peakMb))
  const refused = rows.reduce((sum, row) => sum + row.healthy.notAccepted, 0)
  const { accepted, doubtful, counted: shown } = hostileCounted
  return [
    check('healthy p99 beside each', milliseconds(p99), `≤ ${milliseconds(limit)}`, p99 <= limit),
    check('healthy requests that were not answered 200', grouped(refused), '0', refused === 0),
    check(
      'healthy events visible, at the latest',
      `${(visible / 1_000).toFixed(1)} s`,
      `≤ ${VISIBLE_MS / 1_000} s`,
      visible <= VISIBLE_MS && measured > 0,
    ),
    check('memory, peak', `${grouped(peak)} MB`, `≤ ${grouped(MEMORY_MB)} MB`, peak <= MEMORY_MB),
    check(
      'healthy events acknowledged and counted',
      `${grouped(counted.accepted)} and ${grouped(counted.counted)}, ${counted.wrongSites} sites differ`,
      'equal on every site',
      counted.wrongSites === 0,
    ),
    check(
      'hostile events acknowledged and counted',
      `${grouped(accepted)} and ${grouped(shown)}, ${grouped(doubtful)} doubtful`,
      'none lost, none twice',
      shown >= accepted && shown <= accepted + doubtful,
    ),
    check('errors in the log', log.slice(0, 300) || 'none', 'none', !log.includes('"level":50')),
  ]
}

/** The better of the two stretches at the start and the end. */
function aloneP99({ rows }: FairnessResult): number {
  const alone = rows.filter(({ name }) => name === ALONE)
  return Math.min(...alone.map(({ healthy }) => healthy.p99Ms))
}

const answersText = (statuses: Record<string, number>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${status} × ${grouped(count)}`)
    .join(', ')
