import type { Migration } from './types.ts'

/**
 * A fold says where its rows begin. One that an older version had begun begins at 0 and takes all rows up to its last, as that
 * version did. A mark counts how often it was put, so that a roll-up in several transactions sees what came in between.
 */
export const foldsOfRuns: Migration = {
  name: '0011-folds-of-runs',
  statements: ({ integer }) => [
    `alter table folds add column first_seq ${integer} not null default 0`,
    `alter table rollup_marks add column writes ${integer} not null default 0`,
  ],
}
