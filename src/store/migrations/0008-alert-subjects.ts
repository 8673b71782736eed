import type { Migration } from './types.ts'

/**
 * Alerts per subject, since when, and whom they reached. Until now "notified" was written with the message: from here on it
 * means that one was delivered, so what the delivery log knows of is kept and the rest is as if never told.
 */
export const alertSubjects: Migration = {
  name: '0008-alert-subjects',
  statements: ({ integer }) => [
    "alter table probes add column subject_statuses text not null default '{}'",
    'alter table alerts add column subject_label text',
    `alter table alerts add column started_at ${integer} not null default 0`,
    `alter table alerts add column announced_at ${integer}`,
    `alter table alerts add column last_announced_at ${integer}`,
    `update alerts set
      started_at = opened_at,
      announced_at = (select min(created_at) from deliveries where deliveries.alert_id = alerts.id),
      last_announced_at = (select max(created_at) from deliveries where deliveries.alert_id = alerts.id),
      first_notified_at = (select min(delivered_at) from deliveries where deliveries.alert_id = alerts.id),
      last_notified_at = (select max(delivered_at) from deliveries where deliveries.alert_id = alerts.id)`,
    'update alerts set notified_severity = null where announced_at is null',
    'alter table silences add column subject_key text',
    'alter table silences add column subject_label text',
    `alter table silences add column until_resolved ${integer} not null default 0`,
  ],
}
