import { NAMES_PER_DAY, OTHER } from '../rollups/index.ts'

/** Something that makes a report less precise than it looks. */
export interface Warning {
  code: 'events_over_cap' | 'tags_over_cap' | 'clock_skew'
  message: string
}

/** @param seen whether events and tags were counted under `(other)`, and how many of all events had a wrong time */
export function warningsOf(seen: { events: boolean; tags: boolean; skewed: number; total: number }): Warning[] {
  const warnings: Warning[] = []
  if (seen.events) warnings.push({ code: 'events_over_cap', message: overCap('event names') })
  if (seen.tags) warnings.push({ code: 'tags_over_cap', message: overCap('tags') })
  if (seen.skewed > 0) {
    warnings.push({
      code: 'clock_skew',
      message:
        `${seen.skewed} of ${seen.total} events came with a time more than 24 hours old or 5 minutes ahead ` +
        'and were booked at the time they arrived: check the clock of the sending server',
    })
  }
  return warnings
}

const overCap = (what: string): string =>
  `more than ${NAMES_PER_DAY} different ${what} were used on one day: the rest is counted together as ${OTHER}`
