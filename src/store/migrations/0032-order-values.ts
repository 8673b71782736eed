import type { Migration } from './types.ts'

/** What an order of a site is worth on average, and in which currency (ISO 4217): for what incidents cost. */
export const orderValues: Migration = {
  name: '0032-order-values',
  statements: () => [
    'alter table sites add column average_order_value double precision',
    'alter table sites add column currency text',
  ],
}
