import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  boundsOf,
  endsNow,
  labelOf,
  queryOf,
  rangeOf,
  searchOf,
  shifted,
  type TimeRange,
  zoomed,
} from '../../web/src/ui/time-range/range.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOON = Date.parse('2026-11-20T12:00:00.000Z')
const iso = (at: number) => new Date(at).toISOString()
const fixed = (from: number, to: number): TimeRange => ({ from: iso(from), to: iso(to) })
const search = (range?: string, from?: string, to?: string) => ({ range, from, to })

test('an address names a preset, a range, or a range until now; anything else is the last 24 hours', () => {
  const cases: readonly [ReturnType<typeof search>, TimeRange][] = [
    [search('6h'), { preset: '6h' }],
    [search(), { preset: '24h' }],
    [search('6y'), { preset: '24h' }],
    [search(undefined, iso(NOON)), { from: iso(NOON) }],
    [search('6h', iso(NOON), iso(NOON + HOUR)), fixed(NOON, NOON + HOUR)],
    [search(undefined, iso(NOON), iso(NOON)), { preset: '24h' }],
    [search(undefined, 'noon'), { preset: '24h' }],
    [search(undefined, iso(NOON), 'later'), { preset: '24h' }],
    [search(undefined, undefined, iso(NOON)), { preset: '24h' }],
    [search('toString'), { preset: '24h' }],
    [search(undefined, '2026-11-20'), { from: '2026-11-20T00:00:00.000Z' }],
  ]
  for (const [given, expected] of cases) assert.deepEqual(rangeOf(given), expected, JSON.stringify(given))
})

test('a range is written into the address as it is read from there', () => {
  for (const range of [{ preset: '24h' }, { preset: '7d' }, { from: iso(NOON) }, fixed(NOON, NOON + HOUR)] as const) {
    assert.deepEqual(rangeOf(searchOf(range)), range)
  }
  assert.deepEqual(searchOf({ preset: '24h' }), search())
})

test('reports are asked for hours, for a range, or from a time until now', () => {
  assert.deepEqual(queryOf({ preset: '6h' }), { hours: 6 })
  assert.deepEqual(queryOf({ from: iso(NOON) }), { from: iso(NOON) })
  assert.deepEqual(boundsOf({ from: iso(NOON) }, NOON + HOUR), { from: NOON, to: NOON + HOUR })
  assert.deepEqual(boundsOf({ preset: '1h' }, NOON), { from: NOON - HOUR, to: NOON })
})

test('a range moves by half of its length, and never past now', () => {
  const now = NOON + 2 * HOUR
  assert.deepEqual(shifted({ preset: '6h' }, -1, now), fixed(now - 9 * HOUR, now - 3 * HOUR))
  assert.deepEqual(shifted(fixed(NOON - 2 * HOUR, NOON), 1, now), fixed(NOON - HOUR, NOON + HOUR))
  assert.deepEqual(shifted(fixed(NOON, NOON + HOUR + 50 * MINUTE), 1, now), fixed(NOON + 10 * MINUTE, now))
  assert.deepEqual(shifted(fixed(NOON, now + HOUR), 1, now), fixed(NOON, now + HOUR), 'one that ends ahead stays')
  assert.equal(endsNow({ preset: '1h' }, now), true)
  assert.equal(endsNow({ from: iso(NOON) }, now), true)
  assert.equal(endsNow(fixed(NOON, NOON + HOUR), now), false)
})

test('a selection is zoomed into by whole minutes, within the chart, and not where it is a click', () => {
  const chart = { from: NOON, to: NOON + 24 * HOUR }
  const into = (from: number, to: number) => zoomed({ from, to }, chart)
  assert.deepEqual(into(NOON + HOUR + 1, NOON + 2 * HOUR - 1), fixed(NOON + HOUR, NOON + 2 * HOUR))
  assert.deepEqual(into(NOON - HOUR, NOON + 90 * HOUR), fixed(NOON, NOON + 24 * HOUR))
  assert.equal(into(NOON + HOUR, NOON + HOUR + 30_000), null)
  assert.equal(into(NOON - HOUR, NOON), null)
})

test('a range says what it is', () => {
  assert.equal(labelOf({ preset: '7d' }, 'UTC'), 'Last 7 days')
  assert.equal(labelOf({ from: iso(NOON) }, 'Europe/Berlin'), 'Since 20 Nov 2026, 13:00')
  assert.match(labelOf(fixed(NOON, NOON + HOUR), 'Europe/Berlin'), /^20 Nov 2026, 13:00\s*–\s*14:00$/)
})
