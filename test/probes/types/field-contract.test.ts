import assert from 'node:assert/strict'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { fieldContract } from '../../../src/probes/types/field-contract.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, siteWith } from './data-support.ts'

const TIMES = [...every(20 * MINUTE, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(MINUTE / 2, NOW - 2 * HOUR, NOW)]
const SINCE = NOW - 40 * MINUTE

/** The coupon is lost; the group is on every second purchase as ever. */
const purchases = TIMES.map((time, index) =>
  event(time, {
    event_name: 'purchase',
    fields: { coupon: time < SINCE, customer_group: index % 2 === 0 },
  }),
)

testLogic('a parameter of its own that an event loses is critical, with the time since when', async (store, t) => {
  const site = await siteWith(store, [...purchases, ...TIMES.map((time) => event(time, { fields: { coupon: true } }))])
  const { status, message, details } = await resultOf(t, store, site, fieldContract)
  assert.equal(status, 'critical')
  assert.match(message, /^“coupon” is present in 0 % of \d+ “purchase” events in .+; usually 100 %$/)
  assert.deepEqual(
    details.findings.map(({ subject, since }) => [subject, since]),
    [[{ event_name: 'purchase', field: 'coupon' }, isoTime(SINCE)]],
  )
  // The coupon of page views and the group of purchases are as usual.
  assert.equal(details.judged, 3)
})

testOnEveryEngine(
  'a minimum that is required is broken by what is usual, too, and a filter looks at one',
  async (store, t) => {
    const site = await siteWith(store, purchases)
    const group = { event: 'purchase', parameter: 'customer_group' }
    const broken = await resultOf(t, store, site, fieldContract, { ...group, min_percent: 90 })
    assert.equal(broken.status, 'warning')
    assert.match(
      broken.message,
      /^“customer_group” is present in (4|5)\d % of \d+ “purchase” events in .+; 90 % are required$/,
    )
    assert.equal(broken.details.judged, 1)
  },
)

testLogic('batches are judged as a whole', async (store, t) => {
  const times = [...every(HOUR, NOW - 9 * DAY, NOW - 2 * HOUR), ...every(5 * MINUTE, NOW - 2 * HOUR, NOW)]
  const of = (time: number) =>
    batch(time, { total_events: 50, fields: { coupon: { present: time < SINCE ? 48 : 0, total: 50 } } })
  const { status, details } = await resultOf(t, store, await siteWith(store, times.map(of)), fieldContract)
  assert.equal(status, 'critical')
  assert.deepEqual(
    details.findings.map(({ subject }) => subject),
    [{ field: 'coupon' }],
  )
})

testOnEveryEngine('a site that names no parameters has nothing to judge, and a new one learns', async (store, t) => {
  const silent = await siteWith(
    store,
    every(HOUR, NOW - 9 * DAY, NOW).map((time) => event(time, { identifiers: { has_ip: true } })),
  )
  const none = await resultOf(t, store, silent, fieldContract)
  assert.deepEqual([none.status, none.reason], ['ok', 'no_data'])
  assert.match(none.message, /“Custom parameters”/)
  const young = await siteWith(
    store,
    every(MINUTE, NOW - HOUR, NOW).map((time) => event(time, { fields: { coupon: true } })),
  )
  const learning = await resultOf(t, store, young, fieldContract)
  assert.deepEqual([learning.status, learning.reason], ['ok', 'learning'])
})
