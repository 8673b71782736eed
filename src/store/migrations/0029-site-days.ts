import type { Migration } from './types.ts'

/** What a site was on each day: results are kept for less than the days that are shown. */
export const siteDays: Migration = {
  name: '0029-site-days',
  statements: ({ integer, counter, clustered }) => [
    `create table site_days (
      site_id text not null,
      day text not null,
      ok_ms ${integer} not null,
      warning_ms ${integer} not null,
      critical_ms ${integer} not null,
      maintenance_ms ${integer} not null,
      unknown_ms ${integer} not null,
      executions ${counter},
      successes ${counter},
      written_at ${integer} not null,
      primary key (site_id, day)
    )${clustered}`,
    'create index site_days_by_day on site_days (day)',
  ],
}
