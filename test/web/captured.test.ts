import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProbeRecord } from '../../web/src/api/probes.ts'
import type { ReconciliationAnswer } from '../../web/src/api/reconciliation.ts'
import { addedWords, referenceLine } from '../../web/src/features/setup/ingest.ts'
import {
  capturedRows,
  capturedSeries,
  isOverAll,
  probeOf,
  targetOf,
  timeOfDays,
} from '../../web/src/features/site/captured.ts'

const compared = { compared_hours: 24, missing_hours: 0, counted_in_missing: 0, unknown_hours: 0 }
const day = (day: string, reference: number | null, counted: number | null) => ({
  ...compared,
  day,
  from: `${day}T00:00:00.000Z`,
  to: new Date(Date.parse(day) + 86_400_000).toISOString(),
  is_over: day !== '2026-11-20',
  reference,
  counted,
  captured: reference === null || counted === null || reference === 0 ? null : counted / reference,
})

const report = (over: Partial<ReconciliationAnswer> = {}): ReconciliationAnswer => ({
  ...compared,
  site_id: 'x',
  source: 'shop',
  event: 'purchase',
  timezone: 'UTC',
  reference: 300,
  counted: 270,
  captured: 0.9,
  shift: null,
  days: [day('2026-11-18', 200, 190), day('2026-11-19', null, null), day('2026-11-20', 100, 80)],
  ...over,
})

test('a day without counts of the source is a gap, and today is not known whole', () => {
  const [series] = capturedSeries(report(), 0.9)
  assert.deepEqual(
    series?.points.map(({ value, base }) => [value, base]),
    [
      [0.95, 200],
      [null, 0],
      [0.8, 100],
    ],
  )
  assert.deepEqual([series?.target, series?.knownUntil], [0.9, Date.parse('2026-11-20T00:00:00Z')])
  assert.deepEqual(timeOfDays(report()), { from: Date.parse('2026-11-18'), to: Date.parse('2026-11-21') })
  assert.equal(timeOfDays(report({ days: [] })), undefined)
})

test('the figures say what is missing only where something is', () => {
  const texts = (over: Partial<ReconciliationAnswer> = {}) =>
    capturedRows(report(over), 0.95).map(({ name, value, reference }) => [name, value, reference])
  assert.deepEqual(texts(), [
    ['Captured', '90\u00a0%', 'at least 95\u00a0%'],
    ['Counted by shop', '300', undefined],
    ['Counted here', '270', undefined],
  ])
  assert.deepEqual(texts({ missing_hours: 3, counted_in_missing: 12, unknown_hours: 1 }).slice(3), [
    ['Not reported', '3 hours', '12 counted here'],
    ['Not watched here', '1 hour', undefined],
  ])
  assert.deepEqual(texts({ captured: null, reference: 0 })[0], ['Captured', '–', 'at least 95\u00a0%'])
})

test('more than all leaves an axis that ends at all', () => {
  assert.equal(isOverAll(report()), false)
  assert.equal(isOverAll(report({ days: [day('2026-11-18', 100, 130)] })), true)
})

test('the wanted share is that of the probe that judges this event of this source', () => {
  const probe = (over: Partial<ProbeRecord>) =>
    ({
      probe_type: 'reconciliation',
      is_active: true,
      config: { source: 'shop', event: 'purchase', min_captured_percent: 80 },
      ...over,
    }) as ProbeRecord
  const found = (...probes: ProbeRecord[]) => targetOf(probeOf(probes, report()))
  assert.equal(found(probe({})), 0.8)
  assert.equal(found(probe({ is_active: false })), undefined)
  assert.equal(found(probe({ config: { source: 'shop', event: 'refund', min_captured_percent: 80 } })), undefined)
  assert.equal(found(), undefined)
})

test('what was written is said by source, and the line for a job holds no key', () => {
  const added = { source: 'shop', first_hour: '', last_hour: '' }
  assert.equal(
    addedWords([
      { ...added, events: ['purchase'], hours: 1 },
      { ...added, source: 'pay', events: ['a', 'b', 'c'], hours: 1_200 },
    ]),
    '1 count of purchase from shop, 1,200 counts of 3 events from pay',
  )
  assert.match(
    referenceLine('https://tw.example', 'id'),
    /^curl https:\/\/tw\.example\/api\/sites\/id\/reference-counts \\\n.*\$ADMIN_TOKEN/,
  )
})
