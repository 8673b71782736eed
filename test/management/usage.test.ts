import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitsOf, type UsageRecord } from '../../src/management/index.ts'
import { usageRecord } from '../../src/management/plans.ts'
import { testLogic } from '../../testkit/engines.ts'
import { openManagement } from './support.ts'

const client = {
  id: 'c',
  name: 'Acme',
  email: null,
  chat_webhook: null,
  is_active: 1,
  plan: 'free',
  requests_per_second: null,
  events_per_month: null,
  reminder_minutes: null,
  notify_resolved: 1,
  notify_escalated: 1,
  quiet_from: null,
  quiet_to: null,
  digest: 'off',
  created_at: 0,
}
const NOW = Date.parse('2026-11-20T10:00:00Z')

const LIMITS: [
  plan: string,
  requests: number | null,
  events: number | null,
  perSecond: number | null,
  perMonth: number | null,
][] = [
  ['free', null, null, 10, 100_000],
  ['pro', null, null, 100, 1_000_000],
  ['business', null, null, 500, 10_000_000],
  ['business', 1, 1, 500, 10_000_000],
  ['enterprise', null, null, null, null],
  ['enterprise', 7, null, 7, null],
  ['enterprise', null, 9, null, 9],
]
for (const [plan, requests, events, requestsPerSecond, eventsPerMonth] of LIMITS) {
  test(`plan ${plan} with own limits ${requests} and ${events} allows ${requestsPerSecond}/s and ${eventsPerMonth} a month`, () => {
    const row = { plan, requests_per_second: requests, events_per_month: events }
    assert.deepEqual(limitsOf(row), { requestsPerSecond, eventsPerMonth })
  })
}

test('a plan that this program never wrote is an error, not a limit', () => {
  assert.throws(() => limitsOf({ plan: 'gold', requests_per_second: null, events_per_month: null }), /gold/)
})

const LEVELS: [events: number, share: number, level: string][] = [
  [0, 0, 'ok'],
  [79_999, 0.79999, 'ok'],
  [80_000, 0.8, 'warning'],
  [99_999, 0.99999, 'warning'],
  [100_000, 1, 'exceeded'],
  [250_000, 1, 'exceeded'],
]
for (const [events, share, level] of LEVELS) {
  test(`${events} of 100000 events are a share of ${share}, which is ${level}`, () => {
    const usage = usageRecord(client, [{ month: 202611, events, requests: 5 }], NOW)
    assert.deepEqual([usage.events, usage.requests, usage.share, usage.level], [events, 5, share, level])
  })
}

test('without a limit there is no share, and nothing to exceed', () => {
  const usage = usageRecord({ ...client, plan: 'enterprise' }, [{ month: 202611, events: 9e12, requests: 5 }], NOW)
  assert.deepEqual([usage.limit, usage.requests_per_second, usage.share, usage.level], [null, null, null, 'ok'])
})

const HISTORIES: [now: string, first: string, last: string, resetsAt: string][] = [
  ['2026-11-20T10:00:00Z', '2025-12', '2026-11', '2026-12-01T00:00:00.000Z'],
  ['2026-12-31T23:59:59.999Z', '2026-01', '2026-12', '2027-01-01T00:00:00.000Z'],
  ['2026-01-31T00:00:00Z', '2025-02', '2026-01', '2026-02-01T00:00:00.000Z'],
]
for (const [now, first, last, resetsAt] of HISTORIES) {
  test(`at ${now} the history goes from ${first} to ${last}`, () => {
    const usage = usageRecord(client, [], Date.parse(now))
    assert.equal(usage.history.length, 12)
    assert.deepEqual([usage.history[0]?.month, usage.history.at(-1)?.month], [first, last])
    assert.deepEqual([usage.month, usage.resets_at], [last, resetsAt])
  })
}

testLogic("a client's usage is read from what ingest counted", async (store, t) => {
  const api = await openManagement(store, t)
  const { id } = await api.client({ plan: 'pro' })
  const other = await api.client()
  await store.write
    .insertInto('client_usage')
    .values([
      { client_id: id, month: 202611, events: 850_000, requests: 40_000 },
      { client_id: id, month: 202609, events: 3, requests: 2 },
      { client_id: id, month: 202511, events: 9, requests: 9 },
      { client_id: other.id, month: 202611, events: 1, requests: 1 },
    ])
    .execute()
  const { history, ...usage } = await api.get<UsageRecord>(`/api/clients/${id}/usage`)
  assert.deepEqual(usage, {
    client_id: id,
    plan: 'pro',
    month: '2026-11',
    events: 850_000,
    requests: 40_000,
    limit: 1_000_000,
    requests_per_second: 100,
    share: 0.85,
    level: 'warning',
    resets_at: '2026-12-01T00:00:00.000Z',
  })
  assert.deepEqual(
    history.filter(({ events }) => events > 0),
    [
      { month: '2026-09', events: 3, requests: 2 },
      { month: '2026-11', events: 850_000, requests: 40_000 },
    ],
  )
})
