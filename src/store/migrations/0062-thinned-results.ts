import type { Migration } from './types.ts'

/** Older results of probes that only repeat what came before are deleted, a UTC day at a time. */
export const thinnedResults: Migration = {
  name: '0062-thinned-results',
  statements: ({ integer }) => [`alter table probes add column results_thinned_to ${integer} not null default 0`],
}
