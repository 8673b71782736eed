import type { Migration } from './types.ts'

/** When it is next counted what an incident costs: at once of those that last, never again of those that ended. */
export const incidentImpact: Migration = {
  name: '0019-incident-impact',
  statements: ({ integer }) => [
    `alter table incidents add column impact_due ${integer}`,
    "update incidents set impact_due = 0 where state <> 'resolved'",
    'create index incidents_by_impact_due on incidents (impact_due) where impact_due is not null',
  ],
}
