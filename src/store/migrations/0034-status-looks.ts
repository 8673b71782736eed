import type { Migration } from './types.ts'

/** The colour and the logo of a client on its status page. */
export const statusLooks: Migration = {
  name: '0034-status-looks',
  statements: () => [
    `create table status_looks (
      client_id text primary key,
      accent text,
      logo text,
      logo_type text
    )`,
  ],
}
