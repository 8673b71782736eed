import type { Migration } from './types.ts'

const IS_BACK = "text like '% is back, % after its end'"

/**
 * That an incident is open again was known from the wording of an alert that joined it. An alert of an open incident that is bad again
 * says the same, so only the first one after an end counts.
 */
export const reopened: Migration = {
  name: '0060-reopened',
  statements: () => [
    `update incident_events set kind = 'reopened'
      where kind = 'joined' and ${IS_BACK} and 'resolved' = (
        select earlier.kind from incident_events as earlier
        where earlier.incident_id = incident_events.incident_id and earlier.id < incident_events.id
          and (earlier.kind in ('resolved', 'reopened') or (earlier.kind = 'joined' and earlier.${IS_BACK}))
        order by earlier.id desc limit 1
      )`,
  ],
}
