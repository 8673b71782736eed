import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DATA_FRESHNESS_DEFAULTS, dataFreshness, type TimeRange } from '../../src/detection/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { NOON, volumeInput } from './support.ts'

/** Judges a site that usually has `perSlot` events in five minutes and sent its last event `silence` ms ago. */
function judge(
  perSlot: number,
  silence: number,
  knownFrom = NOON - 40 * DAY,
  outages: readonly TimeRange[] = [],
  last_event_at = NOON - silence,
) {
  const usual = () => ({ page_view: perSlot })
  const input = volumeInput({
    usual,
    recent: (time) => ({ page_view: time < NOON - silence ? perSlot : 0 }),
    knownFrom,
    outages,
  })
  return dataFreshness({ now: NOON, last_event_at, ...input, outages }, DATA_FRESHNESS_DEFAULTS)
}

const CASES: readonly [what: string, perSlot: number, silence: number, status: string][] = [
  ['busy and sent an event just now', 500, MINUTE, 'ok'],
  ['busy and silent for 15 minutes', 500, 15 * MINUTE, 'ok'],
  ['busy and silent for 20 minutes', 500, 20 * MINUTE, 'critical'],
  ['with an event a minute and silent for 20 minutes', 5, 20 * MINUTE, 'critical'],
  ['with an event in five minutes and silent for 50', 1, 50 * MINUTE, 'ok'],
  ['with an event in five minutes and silent for 80', 1, 80 * MINUTE, 'critical'],
  ['with an event in an hour and silent for ten', 1 / 12, 10 * HOUR, 'ok'],
  ['with an event in an hour and silent for 16', 1 / 12, 16 * HOUR, 'critical'],
  ['that never has events, silent for days', 0, 3 * DAY, 'ok'],
]
for (const [what, perSlot, silence, status] of CASES) {
  test(`a site ${what} is ${status}`, () => assert.equal(judge(perSlot, silence).status, status))
}

test('an event that came while the clock was a year ahead hides no silence', () => {
  const ahead = (silence: number) => judge(10, silence, undefined, [], NOON + 365 * DAY)
  assert.deepEqual(
    [ahead(MINUTE).status, ahead(30 * MINUTE).status, ahead(3 * DAY).status],
    ['ok', 'critical', 'critical'],
  )
  assert.equal(ahead(30 * MINUTE).details.findings[0]?.since, isoTime(NOON - 30 * MINUTE))
})

test('an event that came after what is judged is the newest', () => {
  assert.equal(judge(10, 30 * MINUTE, undefined, [], NOON + 2 * MINUTE).status, 'ok')
})

test('a silence says since when and how much was missed', () => {
  const { message, details } = judge(10, 30 * MINUTE)
  assert.match(message, /^nothing received for 30 min; usually about 60 events in that time$/)
  assert.equal(details.findings[0]?.since, isoTime(NOON - 30 * MINUTE))
})

test('a site that never sent anything is not judged', () => {
  const input = volumeInput({ usual: () => ({}) })
  const verdict = dataFreshness({ now: NOON, last_event_at: null, ...input, outages: [] }, DATA_FRESHNESS_DEFAULTS)
  assert.deepEqual([verdict.status, verdict.details.judged], ['ok', 0])
})

test('a site of a few hours is not judged', () => {
  assert.equal(judge(500, 40 * MINUTE, NOON - 5 * HOUR).details.judged, 0)
})

test('a site with so few events that no silence could be bad is not judged, however long it is silent', () => {
  const perDay = (events: number, silence: number) => judge(events / 288, silence).details.judged
  assert.deepEqual([perDay(5, HOUR), perDay(5, 5 * DAY)], [0, 0])
  assert.deepEqual([perDay(24, HOUR), perDay(24, 5 * DAY)], [1, 1])
})

test('on a kind of day that was never seen, a silence has to be five times as long', () => {
  const saturday = NOON + 3 * DAY
  const onSaturday = (silence: number) => {
    const recent = (time: number) => ({ page_view: time < saturday - silence ? 1 : 0 })
    const input = volumeInput({ usual: () => ({ page_view: 1 }), recent, now: saturday, knownFrom: NOON - DAY })
    const last_event_at = saturday - silence
    return dataFreshness({ now: saturday, last_event_at, ...input, outages: [] }, DATA_FRESHNESS_DEFAULTS).status
  }
  assert.deepEqual([onSaturday(80 * MINUTE), onSaturday(20 * HOUR)], ['ok', 'critical'])
})

const DOWN_FOR_THREE_HOURS = [{ from: NOON - 3 * HOUR - 10 * MINUTE, to: NOON - 10 * MINUTE }]

test('the time in which the service itself took no requests is no silence', () => {
  const { status, message } = judge(500, 3 * HOUR + 11 * MINUTE, undefined, DOWN_FOR_THREE_HOURS)
  assert.deepEqual([status, message], ['ok', 'last event 3 h 11 min ago'])
})

test('a silence goes on before and after an outage of the service, without its length', () => {
  const { status, message, details } = judge(500, 3 * HOUR + 30 * MINUTE, undefined, DOWN_FOR_THREE_HOURS)
  assert.equal(status, 'critical')
  assert.match(
    message,
    /^nothing received for 30 min \(not counting 3 h in which no event was accepted\); usually about /,
  )
  assert.deepEqual([details.findings[0]?.measured, details.findings[0]?.evidence.own_outage_minutes], [30, 180])
})

test('a site that stays silent after the service came back is found', () => {
  const silent = [{ from: NOON - 4 * HOUR, to: NOON - 20 * MINUTE }]
  assert.equal(judge(500, 4 * HOUR, undefined, silent).status, 'critical')
  assert.equal(judge(5, 4 * HOUR, undefined, silent).status, 'critical')
  assert.equal(judge(1, 4 * HOUR, undefined, silent).status, 'ok')
})
