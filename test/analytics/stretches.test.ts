import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readSnapshot, sumStretches } from '../../src/analytics/index.ts'
import { type SumRow, sumRollups, totals } from '../../src/analytics/sums.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { COUNT_COLUMNS, GRAIN, NAME_COLUMNS, type RollupTable } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { event } from '../../testkit/payloads.ts'
import { payloads } from '../../testkit/random-payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count } from './support.ts'

/** A day whose first hours are rolled up. */
const START = Date.parse('2026-11-20T08:00:00.000Z')
const END = START + 3 * HOUR + 7 * MINUTE
const SLOT = 5 * MINUTE
const TABLES = Object.keys(NAME_COLUMNS) as RollupTable[]

/** Sums by slot and key, whichever rows they came in. */
function summed(
  rows: readonly SumRow<string, string>[],
  by: readonly string[],
  columns: readonly string[],
  slots: Slots,
) {
  const sums: Record<string, number[]> = {}
  for (const row of rows) {
    const slot = Math.ceil((slots.end - row.at) / slots.length)
    const key = JSON.stringify([slot, ...by.map((name) => row[name])])
    sums[key] = columns.map((column, index) => (sums[key]?.[index] ?? 0) + Number(row[column]))
  }
  return sums
}

interface Slots {
  length: number
  end: number
}

/** The counts of a site as sums over its stretches, and as the database adds them up minute by minute. */
async function bothSums(store: Store, site: SiteRow, table: RollupTable, by: readonly string[]) {
  const columns: readonly string[] = COUNT_COLUMNS[table]
  // Tags on events are counted by the hour.
  const isHourly = table === 'event_tag_rollups'
  const slots = isHourly ? { length: HOUR, end: START + 4 * HOUR } : { length: SLOT, end: END }
  const range = { from: START, to: slots.end }
  return readSnapshot(store, site.site_no, { from: START, to: START + 4 * HOUR }, async (snapshot) => {
    const stretches = [{ ...range, coarsest: GRAIN.minute }]
    const rows = await sumStretches(snapshot, { table, stretches, by, columns, slots })
    const finest = isHourly ? GRAIN.hour : GRAIN.minute
    const read = { finest, coarsest: GRAIN.minute, minuteRowsFrom: 0, singleMinutesFrom: 0, splitOf: () => 0 }
    const minutes = snapshot.segments(range, read).flatMap(({ grain, from, to }) =>
      Array.from({ length: (to - from) / MINUTE }, (_, index) => ({
        grain,
        from: from + index * MINUTE,
        to: from + (index + 1) * MINUTE,
      })),
    )
    const request = { table, siteNo: site.site_no, segments: minutes, by, measures: totals(columns) }
    const each = await sumRollups(snapshot.db, request)
    return [summed(rows, by, columns, slots), summed(each, by, columns, slots)] as const
  })
}

const namesOf = (table: RollupTable): readonly string[] => ['container_id', ...NAME_COLUMNS[table]]

const withHostileNames = (all: readonly Payload[]): Payload[] => [
  ...all,
  ...['with "quotes", and [["brackets"', 'back\\slash', 'new\nline', '{"a":[1,2]}', ', '].map((event_name, index) =>
    event(START + 2.5 * HOUR + index * MINUTE, { event_name }),
  ),
]

testOnEveryEngine(
  'sums over stretches are those of the counts, whatever they are called and told apart by',
  async (store) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(payloads(START, END), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...TABLES),
        fc.infiniteStream(fc.boolean()),
        fc.boolean(),
        async (folds, table, isNamed, isRolledUp) => {
          const site = await insertSite(store)
          for (const all of folds) await count(store, site, withHostileNames(all))
          if (isRolledUp) await rollUpAll(store, START + 2 * HOUR)
          const by = namesOf(table).filter(() => isNamed.next().value === true)
          const [ours, expected] = await bothSums(store, site, table, by)
          assert.deepEqual(ours, expected)
        },
      ),
      { numRuns: amount(12, 300) },
    )
  },
)
