import type { Migration } from './types.ts'

/** Which client a change was about, so that those who see only some clients can read what was changed of theirs. */
export const auditedClients: Migration = {
  name: '0043-audited-clients',
  statements: () => [
    `alter table audit_log add column client_id text`,
    `update audit_log set client_id = entity_id where entity in ('client', 'status_link', 'status_page')`,
    `update audit_log set client_id = (select sites.client_id from sites where sites.id = audit_log.entity_id)
      where entity in ('site', 'reference_counts')`,
    `update audit_log set client_id =
      (select sites.client_id from probes join sites on sites.id = probes.site_id where probes.id = audit_log.entity_id)
      where entity = 'probe'`,
    `create index audit_log_by_client on audit_log (client_id, id)`,
  ],
}
