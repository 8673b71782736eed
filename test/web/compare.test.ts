import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figuresOf, labelsOf, type Side, sidesOf } from '../../web/src/features/compare/sides.ts'

const siteOf = (id: string, name: string) => ({
  id,
  name,
  timezone: 'UTC',
  client_id: 'client',
  client_name: 'Client',
  probes: [],
})
const SITES = { one: siteOf('one', 'Shop'), two: siteOf('two', 'Outlet'), three: siteOf('three', 'Shop') }
const side = (id: keyof typeof SITES, tag: string | null = null): Side => ({ site: SITES[id], tag })

test('the address names two sides, and a site that is gone is none', () => {
  const sides = (search: Record<string, string>) =>
    sidesOf({ sites: SITES }, search).map((each) => each && [each.site.id, each.tag])
  assert.deepEqual(sides({ a: 'one', b: 'two', b_tag: 'Meta CAPI' }), [
    ['one', null],
    ['two', 'Meta CAPI'],
  ])
  assert.deepEqual(sides({ a: 'gone', b_tag: 'GA4' }), [null, null])
  assert.deepEqual(sides({ a: 'one', a_tag: '' }), [['one', null], null])
})

const LABELS: readonly [title: string, a: Side, b: Side, labels: [string, string]][] = [
  ['two sites by their names', side('one'), side('two'), ['Shop', 'Outlet']],
  ['tags of one site by the tag', side('one', 'GA4'), side('one', 'Meta CAPI'), ['GA4', 'Meta CAPI']],
  ['a tag and its site by what they are', side('one', 'GA4'), side('one'), ['GA4', 'All tags']],
  ['one tag of two sites by both', side('one', 'GA4'), side('two', 'GA4'), ['GA4 · Shop', 'GA4 · Outlet']],
  ['sites of one name by a number', side('one'), side('three'), ['Shop', 'Shop (2)']],
]
for (const [title, a, b, labels] of LABELS) {
  test(`a comparison names ${title}`, () => assert.deepEqual(labelsOf(a, b), labels))
}

test('the figures of a tag are its own, those of a site the sums of its tags', () => {
  const tag = { tag_id: null, tag_name: null, vendor: null, vendor_by_hand: false, success_rate: null }
  const times = { avg_ms: null, p50_ms: null, p99_ms: null }
  const outcomes = { timeout: 0, exception: 1 }
  const report = {
    total_events: 100,
    latency: { ...times, p95_ms: 150 },
    tags: [
      { ...tag, ...times, ...outcomes, tag_key: 'GA4', executions: 100, success: 94, failure: 5, p95_ms: 80 },
      { ...tag, ...times, ...outcomes, tag_key: 'Ads', executions: 20, success: 19, failure: 0, p95_ms: 200 },
    ],
  }
  assert.deepEqual(figuresOf(report, 'GA4'), { events: 100, executions: 100, badShare: 0.06, p95: 80 })
  assert.deepEqual(figuresOf(report, null), { events: 100, executions: 120, badShare: 7 / 120, p95: 150 })
  assert.deepEqual(figuresOf(report, 'gone'), { events: 100, executions: 0, badShare: null, p95: null })
})
