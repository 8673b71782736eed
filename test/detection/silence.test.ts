import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DATA_VOLUME_DEFAULTS, dataVolume } from '../../src/detection/index.ts'
import { isoTime, MINUTE } from '../../src/lib/index.ts'
import { judge, NOON, type Rates, volumeInput } from './support.ts'

const steady =
  (page_view: number, purchase = 0): Rates =>
  () => ({ page_view, purchase })

/** What came until so many minutes ago, and what since. */
const since =
  (minutes: number, before: Rates, after: Rates): Rates =>
  (time) =>
    (time >= NOON - minutes * MINUTE ? after : before)(time)

const CASES = [
  { minutes: 4, a: 10, status: 'ok', what: 'in which eight were to be expected' },
  { minutes: 8, a: 10, status: 'critical', what: 'in which sixteen were' },
  { minutes: 3, a: 100, status: 'critical', what: 'that began within the last five minutes' },
  { minutes: 2, a: 100, status: 'ok', what: 'no longer than counts may be behind' },
] as const
for (const { minutes, a, status, what } of CASES) {
  test(`a silence ${what} is ${status}`, () => {
    const { details } = judge(steady(a), since(minutes, steady(a), steady(0)))
    const [finding] = details.findings
    assert.equal(finding?.status, status)
    if (status !== 'ok') assert.equal(finding.since, isoTime(NOON - minutes * MINUTE))
  })
}

test('on a quiet day a silence has to be longer', () => {
  const silentFor = (minutes: number, level: number) =>
    judge(steady(25), since(minutes, steady(25 * level), steady(0))).status
  assert.equal(silentFor(3, 1), 'critical')
  assert.equal(silentFor(3, 0.7), 'ok')
  assert.equal(silentFor(6, 0.7), 'critical')
})

test('a silence of fewer visits than have to be missing had no alert, and hides no fall around it', () => {
  const lossWithGap = since(720, steady(20), since(15, steady(10), since(5, steady(0), steady(10))))
  for (const [min_expected, status] of [
    [5, 'ok'],
    [50, 'warning'],
  ] as const) {
    assert.equal(judge(steady(20), lossWithGap, { min_expected }).status, status)
  }
})

test('a finding on a silence says what it was judged by', () => {
  const { message, details } = judge(steady(100), since(3, steady(70), steady(0)))
  const [finding] = details.findings
  assert.equal(message, 'no events for 3 min; usually 42 in that time')
  assert.deepEqual([finding?.measured, Math.round(finding?.expected ?? 0), finding?.band.low], [0, 42, 1])
  assert.ok(Math.abs(Number(finding?.evidence.level_before) - 0.7) < 0.01, `${finding?.evidence.level_before}`)
  assert.equal(finding?.evidence.visit_size, 1)
})

test('gaps of a sender that hands over every five minutes are no silence, a missing one is', () => {
  const pulses: Rates = (time) => ({ page_view: (time / MINUTE) % 5 === 0 ? 500 : 0 })
  const from = (minutes: number) => since(minutes, pulses, steady(0))
  assert.equal(judge(steady(500), from(2)).status, 'ok')
  assert.equal(judge(steady(500), from(7)).status, 'critical')
})

test('a dead event is compared with the others that come', () => {
  const { details } = judge(steady(50, 50), since(5, steady(50, 50), steady(50)))
  const [finding] = details.findings
  assert.deepEqual([finding?.subject, Math.round(finding?.expected ?? 0)], [{ event_name: 'purchase' }, 50])
})

test('of an event no more is expected than it had, however many others come', () => {
  const crowd: Rates = since(2, steady(50, 5), steady(2_000))
  assert.deepEqual(
    judge(steady(50, 5), crowd).details.findings.filter(({ status }) => status !== 'ok'),
    [],
  )
})

const OUTAGES = [
  { minutes: 20, down: { from: 200, to: 5 }, what: 'silent since the service came back is', status: 'critical' },
  { minutes: 200, down: { from: 200, to: 1 }, what: 'that sent nothing while the service was down is', status: 'ok' },
  { minutes: 205, down: { from: 200, to: 5 }, what: 'silent before and after an outage is', status: 'critical' },
  { minutes: 0, down: { from: 30, to: 25 }, what: 'that sends as before a restart is', status: 'ok' },
] as const
for (const { minutes, down, what, status } of OUTAGES) {
  test(`a site ${what} ${status}`, () => {
    const outages = [{ from: NOON - down.from * MINUTE, to: NOON - down.to * MINUTE }]
    const recent = since(minutes, steady(60), steady(0))
    const input = volumeInput({ usual: steady(60), recent, outages })
    assert.equal(dataVolume(input, DATA_VOLUME_DEFAULTS).status, status)
  })
}

test('an outage of the service is no gap that the sender is known to make', () => {
  const recent = since(8, steady(10), steady(0))
  const outages = [{ from: NOON - 28 * MINUTE, to: NOON - 10 * MINUTE }]
  const { status, message } = dataVolume(volumeInput({ usual: steady(10), recent, outages }), DATA_VOLUME_DEFAULTS)
  assert.deepEqual([status, message], ['critical', 'no events for 8 min; usually 16 in that time'])
})
