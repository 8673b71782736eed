import type { Migration } from './types.ts'

/** Whose tags are, as people said where names do not; and of alerts about tags what was said when they opened. */
export const tagVendors: Migration = {
  name: '0028-tag-vendors',
  statements: ({ integer }) => [
    `create table tag_vendors (
      site_id text not null,
      tag_key text not null,
      vendor text not null,
      created_at ${integer} not null,
      created_by text not null,
      primary key (site_id, tag_key)
    )`,
    'alter table alerts add column vendor text',
  ],
}
