import type { UpsertSpec } from '../store/index.ts'
import {
  clientUsage,
  dailyNames,
  eventRollups,
  eventTagRollups,
  rollupMarks,
  siteContainers,
  tagNames,
  tagRollups,
} from './columns.ts'

/**
 * The tables of a fold in the order in which its transaction locks their rows. Transactions that run at once and lock the
 * same rows have to do so in one order, or they wait for each other in a circle and the engine breaks one of them off:
 *
 *     fold      the node's row in `folds` → these tables in turn, each by key → the node's journal rows
 *     roll-up   the mark of the hour → rows of that hour (no fold writes those) → the mark of the day; likewise for days
 *     commit    idempotency keys by key → its own new journal row
 *     samples   recent payloads → rejections → rejection counts, each by key → what is pruned, site by site
 *
 * Usage comes last, because all sites of a client share that row. What deletes old rows locks one table at a time, and rows
 * that no fold writes to any more.
 */
export const LOCK_ORDER: readonly UpsertSpec[] = [
  eventRollups,
  tagRollups,
  eventTagRollups,
  rollupMarks,
  siteContainers,
  tagNames,
  dailyNames,
  clientUsage,
]
