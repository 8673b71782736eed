import type { Migration } from './types.ts'

/** How much heavier than their number the events were of which a sender sends one in so many. */
export const weights: Migration = {
  name: '0038-weights',
  statements: ({ counter }) => [`alter table signal_rollups add column weight_excess ${counter} not null default 0`],
}
