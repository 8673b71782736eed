import type { Migration } from './types.ts'

/**
 * Which vendor's incident a message is about. It was known from the message alone, so an end could not be withdrawn, or follow its
 * opening.
 */
export const vendorMessages: Migration = {
  name: '0065-vendor-messages',
  statements: () => [
    'alter table deliveries add column incident_id text',
    `update deliveries set incident_id = (select max(id) from incidents
        where scope = 'vendor' and deliveries.message like '%"incident":{"id":"' || incidents.id || '"%')
      where kind in ('vendor_opened', 'vendor_resolved')`,
    'create index deliveries_by_incident on deliveries (incident_id, id) where incident_id is not null',
  ],
}
