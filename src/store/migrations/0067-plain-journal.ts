import type { Migration } from './types.ts'

/** PostgreSQL compressed each journal row for the second that it lives: a third of a commit's processor time. */
export const plainJournal: Migration = {
  name: '0067-plain-journal',
  statements: ({ uncompressed }) => uncompressed('journal', 'payload'),
}
