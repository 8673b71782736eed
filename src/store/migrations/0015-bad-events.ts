import type { Migration } from './types.ts'

/** An alert of a tag knows on which events the tag is bad: one more is told of while it is open. */
export const badEvents: Migration = {
  name: '0015-bad-events',
  statements: ({ integer }) => [
    "alter table alerts add column bad_events text not null default '[]'",
    `alter table alerts add column told_events ${integer} not null default 0`,
  ],
}
