import type { Migration } from './types.ts'

/** A silence may be of an incident: of all its alerts, those that join it later too. */
export const incidentSilences: Migration = {
  name: '0027-incident-silences',
  statements: () => ['alter table silences add column incident_id text'],
}
