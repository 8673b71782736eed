import type { Migration } from './types.ts'

/**
 * The maintenance that subscribers of status pages were e-mailed about, as it was then. What exists counts as announced, so that an
 * upgrade sends no e-mail.
 */
export const announcedMaintenance: Migration = {
  name: '0064-announced-maintenance',
  statements: ({ integer }) => [
    `create table announced_maintenance (
      id text primary key,
      client_id text not null,
      site_id text,
      kind text not null,
      starts_at ${integer},
      ends_at ${integer},
      weekdays text,
      start text,
      duration_minutes integer,
      timezone text,
      is_planned integer not null,
      planned_at ${integer} not null,
      changed_at ${integer} not null
    )`,
    `insert into announced_maintenance
      select m.id, l.client_id, m.site_id, m.kind, m.starts_at, m.ends_at, m.weekdays, m.start, m.duration_minutes, m.timezone, 1, 0, 0
      from maintenance m left join sites s on s.id = m.site_id
        join status_links l on l.client_id = coalesce(m.client_id, s.client_id)
      where m.is_active = 1`,
  ],
}
