import type { Migration } from './types.ts'

/**
 * The incidents that subscribers of status pages were e-mailed about. What is shown now counts as announced, so that an upgrade sends
 * no e-mail about it before it ends.
 */
export const announcedIncidents: Migration = {
  name: '0068-announced-incidents',
  statements: ({ integer }) => [
    `create table announced_incidents (
      id text primary key,
      client_id text not null,
      site_id text not null,
      title text not null,
      turns text not null,
      changed_at ${integer} not null
    )`,
    `insert into announced_incidents
      select i.id, i.client_id, i.site_id, i.title, '[{"kind":"opened","at":0,"saidAt":' || i.started_at || '}]', 0
      from incidents i join status_links l on l.client_id = i.client_id
      where i.resolved_at is null and i.site_id is not null and i.cause <> 'own' and exists (
        select 1 from alerts a where a.incident_id = i.id and a.confirmed_at is not null and (a.announced_at is not null
          or a.suppressed_by is null or (a.suppressed_by not like 'maintenance:%' and a.suppressed_by not like 'silence:%')))`,
  ],
}
