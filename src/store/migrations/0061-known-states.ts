import type { Migration } from './types.ts'

/**
 * Three states were known from wording alone: that a message was given up, that a warning ended before its notification was due, and
 * that every channel takes critical alerts only.
 */
export const knownStates: Migration = {
  name: '0061-known-states',
  statements: ({ integer }) => [
    `alter table deliveries add column given_up_at ${integer}`,
    `update deliveries set given_up_at = not_before
      where state = 'failed' and last_error like 'given up after 24 hours%'`,
    `update deliveries set kind = 'passed'
      where state = 'cancelled' and last_error = 'it was over before a notification was due'`,
    `update incident_events set kind = 'critical_only'
      where kind = 'suppressed' and text = 'No notification: every channel takes critical alerts only'`,
  ],
}
