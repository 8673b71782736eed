import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../src/journal/delta.ts'
import { sectionsOf } from '../../src/journal/part.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { RowBudget } from '../../src/journal/row-budget.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { COUNT_COLUMNS, NAME_COLUMNS, OTHER, type RollupTable } from '../../src/rollups/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { batch } from '../../testkit/payloads.ts'
import { deltaOfLog, logOf } from './support.ts'

const NOW = Date.parse('2026-11-20T12:00:30.000Z')
const TABLES: readonly RollupTable[] = [
  'event_rollups',
  'tag_rollups',
  'event_tag_rollups',
  'signal_rollups',
  'tag_signal_rollups',
  'field_rollups',
]

/** An event with something for every section. */
const full = (event_name: string, tag: string, at = NOW) =>
  eventPayload({
    timestamp_ms: at,
    event_name,
    tags: [{ id: '1', name: tag, status: 'failure', execution_time: 84, response: '5xx' }],
    consent: { ad_storage: 'denied' },
    fields: { coupon: true },
  })

function cellOf(...payloads: readonly Payload[]): Cell {
  const cell = deltaOfLog(payloads.flatMap((payload) => logOf(payload, NOW))).sites.get(1)?.cells[0]
  assert.ok(cell)
  return cell
}

/** A section's names, each row's joined, and its sums. */
function read(cell: Cell, budget: RowBudget) {
  const sections = sectionsOf(cell, budget)
  return Object.fromEntries(
    TABLES.map((table, place) => {
      const [width, counts] = [NAME_COLUMNS[table].length, COUNT_COLUMNS[table]]
      const rows = JSON.parse(sections[place] ?? '[]') as (string | number)[][]
      for (const row of rows) assert.ok(row.length <= width + counts.length, table)
      const sums = counts.map((_, index) => rows.reduce((sum, row) => sum + Number(row[width + index] ?? 0), 0))
      return [table, { names: rows.map((row) => row.slice(0, width).join(' × ')).sort(), sums }]
    }),
  )
}

const namesIn = (cell: Cell, budget: RowBudget) =>
  Object.fromEntries(Object.entries(read(cell, budget)).map(([table, { names }]) => [table, names]))

function exhaust(budget: RowBudget): RowBudget {
  for (let n = 0; budget.admitsMinute(NOW, n); n++);
  return budget
}

const mixed = () =>
  cellOf(
    full('purchase', 'GA4'),
    full(OTHER, 'GA4'),
    full('purchase', OTHER),
    full(OTHER, OTHER),
    batch(NOW, { total_events: 3, tag_metrics: { Ads: { count: 2, success: 2 } } }),
  )

test('names over the budget count as (other) in every section, and no count is lost', () => {
  const all = read(mixed(), new RowBudget())
  assert.deepEqual(all.event_rollups?.names, ['', OTHER, 'purchase'])
  assert.deepEqual(all.tag_rollups?.names, [OTHER, 'Ads', 'GA4'])
  // On which event the tags of a batch ran is not known.
  assert.deepEqual(all.event_tag_rollups?.names, [
    `${OTHER} × ${OTHER}`,
    `${OTHER} × GA4`,
    `purchase × ${OTHER}`,
    'purchase × GA4',
  ])
  assert.deepEqual(all.tag_signal_rollups?.names, [OTHER, 'GA4'])
  assert.deepEqual(all.field_rollups?.names, [`${OTHER} × coupon`, 'purchase × coupon'])
  const few = read(mixed(), exhaust(new RowBudget()))
  assert.deepEqual(few.event_rollups?.names, ['', OTHER])
  for (const table of ['tag_rollups', 'tag_signal_rollups']) assert.deepEqual(few[table]?.names, [OTHER])
  for (const table of ['event_tag_rollups', 'field_rollups'])
    assert.deepEqual(few[table]?.names, [`${OTHER} × ${OTHER}`])
  for (const table of TABLES) {
    assert.ok(all[table]?.sums.some((sum) => sum > 0))
    assert.deepEqual(few[table]?.sums, all[table]?.sums)
  }
})

test('what was counted apart lately stays so when the budget is used up: a minute its names, an hour its pairs', () => {
  const budget = new RowBudget()
  // What comes first in a minute is not tracked.
  for (let n = 0; n < 1_000; n++) budget.admitsMinute(NOW, 'other', n)
  const before = namesIn(cellOf(full('purchase', 'GA4')), budget)
  exhaust(budget)
  assert.deepEqual(namesIn(cellOf(full('purchase', 'GA4')), budget), before)
  const nextMinute = namesIn(cellOf(full('purchase', 'GA4', NOW + MINUTE)), budget)
  assert.deepEqual(nextMinute.event_rollups, [OTHER])
  assert.deepEqual(nextMinute.event_tag_rollups, ['purchase × GA4'])
  // A tag with an event's name is another row.
  assert.deepEqual(namesIn(cellOf(full('purchase', 'purchase')), budget), {
    ...before,
    tag_rollups: [OTHER],
    tag_signal_rollups: [OTHER],
    event_tag_rollups: [`${OTHER} × ${OTHER}`],
  })
})

test('a minute of which nothing but events is known has no other sections', () => {
  const sections = sectionsOf(cellOf(eventPayload({ timestamp_ms: NOW, tags: [] })), new RowBudget())
  assert.deepEqual(
    sections.map((section) => section !== null),
    [true, false, false, false, false, false],
  )
})
