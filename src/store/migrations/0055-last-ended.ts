import type { Migration } from './types.ts'

/** Lists of what was resolved last: without an index each page would sort all that ever was. */
export const lastEnded: Migration = {
  name: '0055-last-ended',
  statements: () => [
    'create index alerts_by_end on alerts (resolved_at, id)',
    'create index incidents_by_end on incidents (resolved_at, id)',
  ],
}
