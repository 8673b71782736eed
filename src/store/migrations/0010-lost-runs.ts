import type { Migration } from './types.ts'

/** Runs that a node began and did not live to end: their probes rest, for longer each time. */
export const lostRuns: Migration = {
  name: '0010-lost-runs',
  statements: ({ integer }) => [
    `alter table probes add column due_at ${integer}`,
    `alter table probes add column lost_runs ${integer} not null default 0`,
  ],
}
