import type { Migration } from './types.ts'

const COLUMNS = ['response_2xx', 'response_3xx', 'response_4xx', 'response_5xx', 'response_none']

/** How vendors answered tags, by class of the HTTP status. */
export const vendorResponses: Migration = {
  name: '0030-vendor-responses',
  statements: ({ counter }) =>
    COLUMNS.map((column) => `alter table tag_signal_rollups add column ${column} ${counter} not null default 0`),
}
