import type { Migration } from './types.ts'

/** How long a warning lasts before one channel of a client is notified of it; null: as long as on the other channels. */
export const channelWaits: Migration = {
  name: '0053-channel-waits',
  statements: ({ integer }) => [`alter table client_channels add column warnings_after_minutes ${integer}`],
}
