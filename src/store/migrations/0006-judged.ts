import type { Migration } from './types.ts'

/** Why a result judged nothing: null where it judged, as all results from before this step are taken to have. */
export const judged: Migration = {
  name: '0006-judged',
  statements: () => [
    'alter table probe_results add column reason text',
    'alter table probes add column last_reason text',
  ],
}
