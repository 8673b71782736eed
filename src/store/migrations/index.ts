import { foundation } from './0001-foundation.ts'
import type { Migration } from './types.ts'

/** Every step, oldest first. Add to the end; never change one that has been released. */
export const migrations: readonly Migration[] = [foundation]

export type { ColumnTypes, Migration } from './types.ts'
