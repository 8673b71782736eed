import { grouped, markdownTable } from '../../../bench/lib/table.ts'
import type { PagesResult } from './run.ts'

/** Garbage that is not collected yet moves the resident memory by this much either way. */
const MOST_GROWTH = 1.3

export const arePagesRead = ({ failures, memory }: PagesResult): boolean =>
  failures.length === 0 && !(memory.lateMb / memory.earlyMb > MOST_GROWTH)

export const pagesSettings = (seed: number): string => `Real types of probes and their thread for pages, seed ${seed}.`

/** What came of hostile pages, as Markdown. */
export function pagesText(result: PagesResult): string {
  const { types, made, memory, failures, patterns, stallMs, seconds } = result
  const rows = [...types].map(([name, { runs, bodies, statuses, longestMs }]) => [
    `\`${name}\``,
    grouped(runs),
    grouped(bodies),
    ...[statuses.ok, statuses.warning, statuses.critical, statuses.error].map(grouped),
    `${longestMs.toFixed(0)} ms`,
  ])
  const all = [...types.values()].reduce((sum, { bodies }) => sum + bodies, 0)
  const kinds = Object.entries(made).map(([kind, count]) => `${grouped(count)} ${kind}`)
  return [
    markdownTable(
      ['check', 'found', 'target'],
      [
        ['hostile bodies', `${grouped(all)} (${kinds.join(', ')})`, '100,000'],
        ['patterns whose texts they are made of', String(patterns), 'all that look at answers'],
        [
          'pages that froze or ended their thread, runs that threw, outcomes that cannot be kept',
          String(failures.length),
          '0',
        ],
        ['longest stall of the thread that judges', `${stallMs.toFixed(0)} ms`, ''],
        [
          'memory after a third, at the end, at most',
          `${[memory.earlyMb, memory.lateMb, memory.peakMb].map((mb) => mb.toFixed(0)).join(', ')} MB`,
          `growth < × ${MOST_GROWTH}`,
        ],
        ['bodies/s', grouped(all / seconds), ''],
      ],
    ),
    'Outcomes by type; the longest run is one of eight at a time, which wait for one thread:',
    markdownTable(['type', 'runs', 'bodies', 'ok', 'warning', 'critical', 'error', 'longest'], rows),
  ].join('\n\n')
}
