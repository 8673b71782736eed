import type { Migration } from './types.ts'

/**
 * What lasts, waits or failed is a handful of rows, and was looked for among all that is kept: with two years of it every list of what is open read
 * 300,000 alerts, and that of what failed 2 million messages.
 */
export const whatLasts: Migration = {
  name: '0058-what-lasts',
  statements: () => [
    "create index alerts_unresolved_by_id on alerts (id) where state <> 'resolved'",
    "create index alerts_unresolved_by_site on alerts (site_id) where state <> 'resolved'",
    "create index incidents_unresolved_by_id on incidents (id) where state <> 'resolved'",
    "create index deliveries_pending_by_id on deliveries (id) where state = 'pending'",
    "create index deliveries_failed on deliveries (id) where state = 'failed'",
  ],
}
