import type { Migration } from './types.ts'

/** Up to where a site's minute rows have been added up by fives; null where they have not. */
export const fiveMinuteRows: Migration = {
  name: '0054-five-minute-rows',
  statements: ({ integer }) => [`alter table minute_floors add column fives_before ${integer}`],
}
