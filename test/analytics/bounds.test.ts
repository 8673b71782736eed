import assert from 'node:assert/strict'
import fc from 'fast-check'
import { overview, siteFigures, type TimeseriesQuery, timeseries } from '../../src/analytics/index.ts'
import type { BatchPayload } from '../../src/journal/payload.ts'
import { HOUR } from '../../src/lib/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { payloads } from '../../testkit/random-payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from './support.ts'

const NOW = Date.parse('2026-11-20T12:30:00Z')
const WINDOW = { from: NOW - 2 * HOUR, to: NOW }

/** Small and very large ones, and nothing at all. */
const someCount = fc.option(fc.oneof(fc.nat(30), fc.nat(Number.MAX_SAFE_INTEGER)), { nil: undefined })
const counts = <const K extends string>(...names: K[]) =>
  fc
    .record(Object.fromEntries(names.map((name) => [name, someCount])))
    .map((sums) => Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== undefined)))

/** Batches whose parts have nothing to do with each other: as were taken once, and stand in databases. */
const impossible: fc.Arbitrary<BatchPayload> = fc
  .record({
    window_end_ms: fc.integer({ min: WINDOW.from, max: WINDOW.to - 1 }),
    total_events: fc.nat(30),
    event_counts: fc.dictionary(fc.constantFrom('page_view', 'purchase'), fc.nat(30)),
    tag_metrics: fc.dictionary(
      fc.constantFrom('GA4', 'Meta CAPI'),
      counts('success', 'failure', 'timeout', 'exception', 'total_exec_ms', 'count'),
    ),
    user_data_quality: counts('email', 'phone', 'address', 'total'),
    ecommerce_quality: counts('value', 'currency', 'transaction_id', 'items', 'total'),
  })
  .map((batch) => ({ ...batch, container_id: 'GTM-AAAA', batch: true, window_start_ms: batch.window_end_ms }))

const sent = fc
  .tuple(payloads(WINDOW.from, WINDOW.to - 1), fc.array(impossible, { maxLength: 6 }))
  .map(([valid, others]) => [...valid, ...others])

/** Every rate and every score of a report, with the place where it stands. */
function* shares(report: unknown, path = ''): Generator<{ path: string; value: number; most: number }> {
  if (typeof report !== 'object' || report === null) return
  for (const [key, value] of Object.entries(report)) {
    const here = `${path}/${key}`
    if (typeof value !== 'number') yield* shares(value, here)
    else if (/rate$/.test(key)) yield { path: here, value, most: 1 }
    else if (/score\/(recent\/)?(overall|delivery|user_data|ecommerce)$/.test(here))
      yield { path: here, value, most: 100 }
  }
}

/** Timeseries whose values are rates or scores. */
const SERIES: readonly (readonly [query: Partial<TimeseriesQuery> & Pick<TimeseriesQuery, 'metric'>, most: number])[] =
  [
    [{ metric: 'score' }, 100],
    [{ metric: 'user_data' }, 100],
    [{ metric: 'ecommerce' }, 100],
    [{ metric: 'user_data', group_by: 'field' }, 1],
    [{ metric: 'ecommerce', group_by: 'field' }, 1],
  ]

testOnEveryEngine(
  'rates are from 0 to 1 and scores from 0 to 100, whatever was counted, also by versions that took more',
  async (store) => {
    await fc.assert(
      fc.asyncProperty(sent, async (payloads) => {
        const site = await insertSite(store)
        await count(store, site, payloads)
        const context = reportContext(store, NOW)
        const found = [...shares(await overview(context, site, WINDOW))]
        for (const [query, most] of SERIES) {
          const { series } = await timeseries(context, site, { ...WINDOW, bucket: '1h', ...query })
          const points = series.flatMap(({ key, points }) => points.map(({ value }) => ({ key, value })))
          found.push(
            ...points.flatMap(({ key, value }) =>
              value === null ? [] : [{ path: `${query.metric} ${query.group_by ?? ''} ${key}`, value, most }],
            ),
          )
        }
        for (const [siteNo, { score }] of await siteFigures(store, [site], NOW)) {
          if (score !== null) found.push({ path: `summary of ${siteNo}`, value: score, most: 100 })
        }
        const wrong = found.filter(({ value, most }) => !(value >= 0 && value <= most))
        assert.deepEqual(wrong, [])
      }),
      { numRuns: 30, seed: 20_261_122 },
    )
  },
)
