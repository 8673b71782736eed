import type { Migration } from './types.ts'

/** How often folds have written to a container: what was read of a site is still true while none of its containers has moved on. */
export const containerWrites: Migration = {
  name: '0052-container-writes',
  statements: ({ integer }) => [`alter table site_containers add column writes ${integer} not null default 0`],
}
