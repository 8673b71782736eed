import type { Migration } from './types.ts'

/**
 * Which vendor's incident a message is about, known before from the message alone, so an end could not be withdrawn, or follow its
 * opening; and who an incident was passed on to since which announcement, of which only the number of people was known.
 */
export const knownRecipients: Migration = {
  name: '0065-known-recipients',
  // Vendors' incidents are of no client: by that an index finds them among all incidents, for each message.
  statements: ({ integer }) => [
    'alter table deliveries add column incident_id text',
    `update deliveries set incident_id = (select max(id) from incidents
        where client_id is null and scope = 'vendor'
          and deliveries.message like '%"incident":{"id":"' || incidents.id || '"%')
      where kind in ('vendor_opened', 'vendor_resolved')`,
    'create index deliveries_by_incident on deliveries (incident_id, id) where incident_id is not null',
    'alter table on_call_escalations add column notified text',
    `alter table on_call_escalations add column announced_at ${integer}`,
  ],
}
