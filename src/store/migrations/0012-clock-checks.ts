import type { Migration } from './types.ts'

/** Of a site, before which hour minute rows were deleted. And one row: the newest time that was seen, and whether the clock is in doubt. It begins with the newest heartbeat that is stored. */
export const clockChecks: Migration = {
  name: '0012-clock-checks',
  statements: ({ integer }) => [
    `create table clock_checks (
      id ${integer} primary key,
      checked_at ${integer} not null,
      careful_until ${integer},
      slack_ms ${integer},
      doubt text
    )`,
    `insert into clock_checks (id, checked_at)
      select 1, max(seen_at) from nodes having max(seen_at) is not null`,
    `create table minute_floors (
      site_no ${integer} primary key,
      gone_before ${integer} not null,
      clearing ${integer}
    )`,
  ],
}
