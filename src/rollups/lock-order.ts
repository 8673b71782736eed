import type { UpsertSpec } from '../store/index.ts'
import {
  clientUsage,
  containerClients,
  containerVersions,
  dailyNames,
  dirtyBuckets,
  siteContainers,
  tagNames,
} from './columns.ts'
import { minuteParts } from './minute-parts.ts'

/**
 * The tables of a fold, in the order in which its transaction locks their rows. Concurrent transactions must lock the same rows
 * in the same order, or they deadlock and the engine aborts one of them:
 *
 * - fold: the node's row in `folds` → these tables in turn, each by key → the node's journal rows
 * - roll-up: the dirty bucket of the hour → rows and parts of that hour (no fold writes those: its own parts are new) → the one of the
 *   day; likewise for days
 * - merge of parts: for each minute, by site and time, the dirty bucket of its hour → parts of the minute
 * - commit: idempotency keys by key → its own new journal row
 * - samples: recent payloads → rejections → rejection counts, each by key → pruned rows, site by site
 *
 * Usage comes last, because all sites of a client share that row. Deletion of old rows locks one table at a time, and only rows
 * that no fold writes to any more.
 */
export const LOCK_ORDER: readonly UpsertSpec[] = [
  minuteParts,
  dirtyBuckets,
  siteContainers,
  containerVersions,
  containerClients,
  tagNames,
  dailyNames,
  clientUsage,
]
