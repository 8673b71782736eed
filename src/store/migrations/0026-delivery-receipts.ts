import type { Migration } from './types.ts'

/** By which a service knows a message that it took, where its messages can be changed later. */
export const deliveryReceipts: Migration = {
  name: '0026-delivery-receipts',
  statements: () => ['alter table deliveries add column receipt text'],
}
