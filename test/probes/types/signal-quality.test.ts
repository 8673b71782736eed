import assert from 'node:assert/strict'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { learningPeriod } from '../../../src/probes/counts/learnt-cache.ts'
import { duplicates, identifierQuality, valueQuality } from '../../../src/probes/types/signal-quality.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, siteWith } from './data-support.ts'

const TIMES = [...every(20 * MINUTE, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(MINUTE / 2, NOW - 2 * HOUR, NOW)]
const SINCE = NOW - 40 * MINUTE

const purchase = (time: number) => {
  const isBroken = time >= SINCE
  return event(time, {
    event_name: 'purchase',
    ecommerce: { has_value: true, value_zero: isBroken, transaction_duplicate: isBroken },
    identifiers: { has_event_id: true, has_client_id: !isBroken, has_ip: true },
  })
}

const FOUND = [
  { type: valueQuality, field: 'value_zero', says: /^“value” is 0 on 100 % of \d+ “purchase” events/ },
  { type: duplicates, field: 'transaction_duplicate', says: /^A transaction id was repeated on 100 % of/ },
  { type: identifierQuality, field: 'client_id', says: /^“client_id” is present in 0 % of/ },
]
for (const { type, field, says } of FOUND) {
  testOnEveryEngine(`${type.name}: ${field} that breaks is critical, with the time since when`, async (store, t) => {
    const { status, message, details } = await resultOf(t, store, await siteWith(store, TIMES.map(purchase)), type)
    assert.equal(status, 'critical')
    assert.match(message, says)
    assert.deepEqual(
      details.findings.map(({ subject, since }) => [subject, since]),
      [[{ event_name: 'purchase', field }, isoTime(SINCE)]],
    )
  })
}

testLogic('value_quality: batches are judged as a whole', async (store, t) => {
  const times = [...every(HOUR, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(5 * MINUTE, NOW - 2 * HOUR, NOW)]
  const of = (time: number) =>
    batch(time, {
      total_events: 50,
      ecommerce_quality: { value: 20, total: 20, validity_total: 20, value_zero: time < SINCE ? 1 : 18 },
    })
  const { status, details } = await resultOf(t, store, await siteWith(store, times.map(of)), valueQuality)
  assert.equal(status, 'critical')
  assert.deepEqual(
    details.findings.map(({ subject }) => subject),
    [{ field: 'value_zero' }],
  )
})

for (const type of [valueQuality, duplicates, identifierQuality]) {
  testLogic(`${type.name}: payloads of version 1 of the tag have nothing to judge`, async (store, t) => {
    const site = await siteWith(
      store,
      every(HOUR, NOW - 9 * DAY, NOW).map((time) => event(time, { ecommerce: { has_value: true } })),
    )
    const { status, reason, message } = await resultOf(t, store, site, type)
    assert.deepEqual([status, reason], ['ok', 'no_data'])
    assert.match(message, /update the tag's template/)
  })
}

/** One event in `every` has a click id. */
const withClicks = (times: readonly number[], share: (time: number) => number) =>
  times.map((time, index) => {
    const hasClick = Math.floor(index * share(time)) !== Math.floor((index + 1) * share(time))
    return event(time, { identifiers: { has_client_id: true, has_click_id: hasClick } })
  })

testLogic(
  'identifier_quality: clicks that a campaign of a week brought are not lost when it ends',
  async (store, t) => {
    const times = [...every(20 * MINUTE, NOW - 30 * DAY, NOW - DAY), ...every(MINUTE, NOW - DAY, NOW)]
    const campaign = (time: number) => (time >= NOW - 8 * DAY && time < NOW - DAY ? 0.9 : 0.3)
    const after = await siteWith(store, withClicks(times, campaign))
    assert.equal((await resultOf(t, store, after, identifierQuality)).status, 'ok')
    // The same fall without a campaign before: in three weeks no day had so few.
    const steady = (time: number) => (time < NOW - DAY ? 0.9 : 0.3)
    const lost = await siteWith(store, withClicks(times, steady))
    assert.equal((await resultOf(t, store, lost, identifierQuality)).status, 'warning')
  },
)

testLogic('identifier_quality: what is usual is learnt once for some hours, and then again', async (store, t) => {
  const times = [
    ...every(20 * MINUTE, NOW - 30 * DAY, NOW - 2 * HOUR),
    ...every(MINUTE, NOW - 2 * HOUR, NOW + 5 * HOUR),
  ]
  const site = await siteWith(
    store,
    withClicks(times, () => 0.5),
  )
  const judgedAt = async (now: number) => (await resultOf(t, store, site, identifierQuality, {}, now)).details.judged
  const { to } = learningPeriod(site.site_no, NOW, true)
  const first = await judgedAt(NOW)
  assert.ok(first >= 2)
  // As if the weeks had never had a click: read again, there is less to judge.
  await store.write
    .updateTable('signal_rollups')
    .set({ click_id: 0 })
    .where('bucket', '<', NOW - DAY)
    .execute()
  assert.equal(await judgedAt(to - MINUTE), first)
  assert.equal(await judgedAt(to), first - 1)
})
