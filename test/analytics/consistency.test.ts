import assert from 'node:assert/strict'
import fc from 'fast-check'
import { matrix, overview, type Timeseries, timeseries } from '../../src/analytics/index.ts'
import type { BatchPayload, EventPayload, Payload } from '../../src/journal/payload.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, type Retention, type TimeRange } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { enginesInTurn, testOnEveryEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, reportContext, timeOf } from './support.ts'

/** What was sent lies in these three days; minute rows of the first are gone at the end, or added up by fives. */
const START = Date.parse('2026-10-24T00:00:00Z')
const END = START + 3 * DAY
const NOW = END + 10 * MINUTE
/** When events and tags are known by the hour from the second day on; when those of the first are added up by days; and when all are. */
const WEEKS_LATER = [64.5, 67.5, 71].map((days) => START + days * DAY)

const someTime = fc
  .record({ hour: fc.constantFrom(0, 1, 17, 22, 23, 24, 25, 31, 47, 48, 60, 71), minute: fc.nat(59) })
  .map(({ hour, minute }) => START + hour * HOUR + minute * MINUTE + 30_000)

const someTag = fc.constantFrom({ id: '1', name: 'GA4' }, { id: '2', name: 'Meta' }, { id: '3' })
const someEvent: fc.Arbitrary<EventPayload> = fc
  .record({
    time: someTime,
    container_id: fc.constantFrom('GTM-AAAA', 'GTM-BBBB'),
    event_name: fc.constantFrom('purchase', 'page_view'),
    tags: fc.array(
      fc.record({
        tag: someTag,
        status: fc.constantFrom('success', 'failure', 'timeout', 'exception'),
        execution_time: fc.constantFrom(5, 80, 7_000),
      }),
      { maxLength: 3 },
    ),
    has_email: fc.boolean(),
  })
  .map(({ time, tags, has_email, ...rest }) =>
    event(time, { ...rest, tags: tags.map(({ tag, ...run }) => ({ ...tag, ...run })), user_data: { has_email } }),
  )
const someBatch: fc.Arbitrary<BatchPayload> = fc
  .record({ time: someTime, views: fc.nat(9), success: fc.nat(9), failure: fc.nat(9), email: fc.nat(9) })
  .map(({ time, views, success, failure, email }) =>
    batch(time, {
      total_events: views + 1,
      event_counts: { page_view: views },
      tag_metrics: { GA4: { success, failure, count: success + failure, total_exec_ms: 10 * success } },
      user_data_quality: { email, total: 9 },
    }),
  )
const somePayloads = fc.array(fc.oneof({ weight: 4, arbitrary: someEvent }, someBatch), { maxLength: 25 })

const isBatch = (payload: Payload): payload is BatchPayload => 'window_end_ms' in payload

/** Counts in the plainest way: the payloads themselves, one by one. */
function naive(payloads: readonly Payload[], { from, to }: TimeRange) {
  const inside = payloads.filter((payload) => timeOf(payload) >= from && timeOf(payload) < to)
  const events = new Map<string, number>()
  const tags = new Map<string, { executions: number; success: number }>()
  const cells = new Map<string, number>()
  let total = 0
  let email = 0
  const addTag = (key: string, executions: number, success: number) => {
    const known = tags.get(key) ?? { executions: 0, success: 0 }
    tags.set(key, { executions: known.executions + executions, success: known.success + success })
  }
  const addTo = (map: Map<string, number>, key: string, n: number) => map.set(key, (map.get(key) ?? 0) + n)
  for (const payload of inside) {
    if (isBatch(payload)) {
      total += payload.total_events
      for (const [name, n] of Object.entries(payload.event_counts ?? {})) if (n > 0) addTo(events, name, n)
      for (const [key, metric] of Object.entries(payload.tag_metrics ?? {})) {
        addTag(key, metric.count ?? 0, metric.success ?? 0)
      }
      email += payload.user_data_quality?.email ?? 0
    } else {
      total += 1
      addTo(events, payload.event_name, 1)
      email += payload.user_data?.has_email === true ? 1 : 0
      for (const { id, name, status } of payload.tags) {
        const key = name ?? `tag_${id}`
        addTag(key, 1, status === 'success' ? 1 : 0)
        addTo(cells, `${payload.event_name} ${key}`, 1)
      }
    }
  }
  return { total, email, events, tags, cells }
}

/** Tags that ran on an event, by the hours that the events came in: which tag ran on which event is kept by whole hours. */
function runsOn(event_name: string, payloads: readonly Payload[], { from, to }: TimeRange): number {
  const inside = payloads.filter(
    (payload) => floorTo(timeOf(payload), HOUR) >= from && floorTo(timeOf(payload), HOUR) < to,
  )
  return inside.reduce(
    (sum, payload) => sum + ('tags' in payload && payload.event_name === event_name ? payload.tags.length : 0),
    0,
  )
}

interface Asked {
  store: Store
  site: SiteRow
  range: TimeRange
  sent: readonly Payload[]
  retention: Retention
  now?: number
}

async function assertOverview({ store, site, range, sent, retention }: Asked): Promise<void> {
  const seen = await overview({ ...reportContext(store, NOW), retention }, site, range)
  const expected = naive(sent, seen)
  assert.equal(seen.total_events, expected.total)
  assert.equal(seen.user_data.email.present, expected.email)
  assert.deepEqual(new Map(seen.events.map((one) => [one.event_name, one.total])), expected.events)
  assert.deepEqual(
    new Map(seen.tags.map(({ tag_key, executions, success }) => [tag_key, { executions, success }])),
    expected.tags,
  )
}

async function assertMatrix({ store, site, range, sent, retention, now = NOW }: Asked): Promise<void> {
  const seen = await matrix({ ...reportContext(store, now), retention }, site, range)
  const expected = naive(sent, seen).cells
  assert.deepEqual(new Map(seen.cells.map((cell) => [`${cell.event_name} ${cell.tag_key}`, cell.executions])), expected)
}

/** Each bucket of the series against the payloads in its part of the window. */
function assertBuckets(seen: Timeseries, key: string, expected: (part: TimeRange) => number): void {
  const points = seen.series.find((one) => one.key === key)?.points ?? []
  for (const [index, { t, value }] of points.entries()) {
    const end = points[index + 1]?.t ?? seen.to
    assert.equal(value, expected({ from: Math.max(t, seen.from), to: Math.min(end, seen.to) }))
  }
}

async function assertTimeseries({ store, site, range, sent, retention }: Asked): Promise<void> {
  const context = { ...reportContext(store, NOW), retention }
  for (const bucket of ['auto', '1h', '1d'] as const) {
    const events = await timeseries(context, site, { metric: 'events', bucket, ...range })
    assertBuckets(events, 'events', (part) => naive(sent, part).total)
    const views = await timeseries(context, site, { metric: 'events', bucket, group_by: 'event_name', ...range })
    assertBuckets(views, 'page_view', (part) => naive(sent, part).events.get('page_view') ?? 0)
    const tags = await timeseries(context, site, { metric: 'executions', bucket, group_by: 'tag_key', ...range })
    assertBuckets(tags, 'GA4', (part) => naive(sent, part).tags.get('GA4')?.executions ?? 0)
  }
}

/** What tells of both an event and its tags, by each step that there is. */
async function assertPairs(asked: Asked): Promise<void> {
  const { store, site, range, sent, retention, now = NOW } = asked
  await assertMatrix(asked)
  for (const bucket of ['auto', now === NOW ? '1h' : '1d'] as const) {
    const query = { metric: 'executions', bucket, group_by: 'event_name', ...range } as const
    const seen = await timeseries({ ...reportContext(store, now), retention }, site, query)
    for (const name of ['purchase', 'page_view']) assertBuckets(seen, name, (part) => runsOn(name, sent, part))
    const shown = seen.series.flatMap(({ points }) => points).reduce((sum, { value }) => sum + (value ?? 0), 0)
    assert.equal(shown, runsOn('purchase', sent, seen) + runsOn('page_view', sent, seen))
  }
}

testOnEveryEngine(
  'reports say the same from minutes, hours and days, before and after retention',
  async (store) => {
    const scenario = fc.asyncProperty(
      somePayloads,
      somePayloads,
      fc.constantFrom('UTC', 'Europe/Vienna', 'Asia/Kolkata', 'America/New_York'),
      fc.constantFrom(2, 3),
      fc.array(fc.tuple(fc.nat(72 * 60), fc.integer({ min: 1, max: 72 * 60 })), { minLength: 1, maxLength: 3 }),
      async (first, late, timezone, minuteDays, windows) => {
        const retention = { minuteDays, hourDays: 400 }
        const site = await insertSite(store, { timezone })
        const askedOf = (sent: readonly Payload[]): Asked[] => {
          // Ends inside five minutes in which something came, before and after it.
          const edges = sent.slice(0, 2).flatMap((payload) => {
            const minute = Math.floor((timeOf(payload) - START) / MINUTE)
            return [[Math.max(0, minute - 90), 90] as const, [minute + 1, 90] as const]
          })
          return [[0, 72 * 60] as const, ...windows, ...edges].map(([start, length]) => {
            const range = {
              from: START + start * MINUTE,
              to: Math.min(END, START + (start + length) * MINUTE) + MINUTE,
            }
            return { store, site, range, sent, retention }
          })
        }
        const check = async (sent: readonly Payload[]) => {
          for (const asked of askedOf(sent)) {
            await assertOverview(asked)
            await assertPairs(asked)
            await assertTimeseries(asked)
          }
        }
        await count(store, site, first)
        await check(first)
        await rollUpAll(store, NOW)
        await check(first)
        await count(store, site, late)
        await check([...first, ...late])
        await applyRetention(store, retention, NOW, () => true)
        await rollUpAll(store, NOW)
        await applyRetention(store, retention, NOW, () => true)
        await check([...first, ...late])
        await rollUpAll(store, END + 2 * DAY)
        for (const now of WEEKS_LATER) {
          await applyRetention(store, retention, now, () => true)
          for (const asked of askedOf([...first, ...late])) await assertPairs({ ...asked, now })
        }
      },
    )
    await fc.assert(scenario, { numRuns: amount(3, 20) })
  },
  enginesInTurn,
)
