import type { UpsertSpec } from '../store/index.ts'
import {
  clientUsage,
  dailyNames,
  dirtyBuckets,
  eventRollups,
  eventTagRollups,
  siteContainers,
  tagNames,
  tagRollups,
} from './columns.ts'

/**
 * The tables of a fold in the order in which its transaction locks their rows. Concurrent transactions that lock the same rows
 * have to do so in one order, or they deadlock and the engine aborts one of them:
 *
 *     fold      the node's row in `folds` → these tables in turn, each by key → the node's journal rows
 *     roll-up   the dirty bucket of the hour → rows of that hour (no fold writes those) → the one of the day; likewise for days
 *     commit    idempotency keys by key → its own new journal row
 *     samples   recent payloads → rejections → rejection counts, each by key → pruned rows, site by site
 *
 * Usage comes last, because all sites of a client share that row. Deletion of old rows locks one table at a time, and only rows
 * that no fold writes to any more.
 */
export const LOCK_ORDER: readonly UpsertSpec[] = [
  eventRollups,
  tagRollups,
  eventTagRollups,
  dirtyBuckets,
  siteContainers,
  tagNames,
  dailyNames,
  clientUsage,
]
