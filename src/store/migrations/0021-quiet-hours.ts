import type { Migration } from './types.ts'

/** The part of the day in which a client is notified of what is critical only, `HH:MM` of its sites' local time. */
export const quietHours: Migration = {
  name: '0021-quiet-hours',
  statements: () => ['alter table clients add column quiet_from text', 'alter table clients add column quiet_to text'],
}
