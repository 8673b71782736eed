import type { Migration } from './types.ts'

/** Whether alerts were right, as people said: the detectors learn from it. */
export const alertFeedback: Migration = {
  name: '0016-alert-feedback',
  statements: ({ integer }) => [
    `create table alert_feedback (
      alert_id text primary key,
      site_id text not null,
      event_name text,
      verdict text not null,
      began_at ${integer} not null,
      ended_at ${integer},
      given_at ${integer} not null,
      given_by text not null
    )`,
    'create index alert_feedback_by_site on alert_feedback (site_id)',
  ],
}
