import type { Migration } from './types.ts'

const COLUMNS = [
  'identifiers_total',
  'event_id',
  'client_id',
  'fbp',
  'fbc',
  'click_id',
  'ip',
  'user_agent',
  'validity_total',
  'value_zero',
  'value_invalid',
  'currency_invalid',
  'transaction_duplicate',
  'items_empty',
]

/** Which identifiers events carry, and whether their commerce fields hold what they should. */
export const validitySignals: Migration = {
  name: '0023-validity-signals',
  statements: ({ counter }) =>
    COLUMNS.map((column) => `alter table signal_rollups add column ${column} ${counter} not null default 0`),
}
