import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Delta } from '../../src/journal/index.ts'
import { addTo, contentsOf, deltaOf, eventPayload } from '../../testkit/deltas.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

const payload = fc
  .record({
    event_name: fc.constantFrom('page_view', 'purchase', 'tag|with|bars'),
    container_id: fc.constantFrom('GTM-A', 'GTM-B'),
    timestamp_ms: fc.integer({ min: NOW - 7_200_000, max: NOW }),
    tags: fc.array(
      fc.record(
        {
          id: fc.constantFrom('1', '2', '3'),
          name: fc.constantFrom('GA4', 'Meta', ''),
          status: fc.constantFrom('success' as const, 'failure' as const, 'timeout' as const, 'exception' as const),
          execution_time: fc.integer({ min: 0, max: 9_000 }),
          response: fc.constantFrom('2xx' as const, '5xx' as const, 'none' as const),
        },
        { requiredKeys: ['id', 'status'] },
      ),
      { maxLength: 4 },
    ),
    fields: fc.dictionary(fc.constantFrom('coupon', '+', '=', '__proto__'), fc.boolean()),
    consent: fc.record(
      {
        ad_storage: fc.constantFrom('granted' as const, 'denied' as const, 'absent' as const),
        analytics_storage: fc.constantFrom('granted' as const, 'denied' as const),
        updated: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map((fields) => eventPayload(fields))

const traffic = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), payload), { maxLength: 20 })

function sum(entries: readonly (readonly [number, ReturnType<typeof eventPayload>])[]): Delta {
  const delta = new Delta()
  for (const [siteNo, one] of entries) addTo(delta, deltaOf(siteNo, [one], NOW))
  return delta
}

/** Deltas are sums: the order in which parts came does not matter. */
const canonical = (delta: Delta): unknown =>
  [...delta.sites].sort(([a], [b]) => a - b).map(([siteNo, site]) => [siteNo, [...site.usage], contentsOf(site.cells)])

test('a delta read back from its journal text is equal to the one written', () => {
  fc.assert(
    fc.property(traffic, (entries) => {
      const delta = sum(entries)
      const read = new Delta()
      addTo(read, delta)
      assert.deepEqual(canonical(read), canonical(delta))
    }),
  )
})

test('however requests are grouped into deltas, merging them gives the same sum', () => {
  fc.assert(
    fc.property(traffic, fc.nat(20), (entries, cut) => {
      const grouped = sum(entries.slice(0, cut))
      addTo(grouped, sum(entries.slice(cut)))
      assert.deepEqual(canonical(grouped), canonical(sum(entries)))
    }),
  )
})
