import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOST_LEVEL } from '../../src/detection/count-noise.ts'
import { widened, wideningOf } from '../../src/detection/feedback.ts'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume,
  type Feedback,
  type FeedbackVerdict,
  type UsualCounts,
} from '../../src/detection/index.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { NOON, type Rates, SLOT, volumeInput } from './support.ts'

/** An hour of so many days before noon. */
const said = (verdict: FeedbackVerdict, daysAgo: number, over: Partial<Feedback> = {}): Feedback => {
  const from = NOON - daysAgo * DAY
  return { verdict, name: null, from, to: from + HOUR, ...over }
}
const fine = (daysAgo: number, over: Partial<Feedback> = {}) => said('not_a_problem', daysAgo, over)
const real = (daysAgo: number, over: Partial<Feedback> = {}) => said('real', daysAgo, over)

const WIDENINGS: readonly [what: string, feedback: readonly Feedback[], widening: number][] = [
  ['nothing said', [], 1],
  ['one that was no problem', [fine(3)], 1.5],
  ['two', [fine(3), fine(2)], 2.25],
  ['three', [fine(4), fine(3), fine(2)], 1.5 ** 3],
  ['four', [fine(5), fine(4), fine(3), fine(2)], 4],
  ['twelve', Array.from({ length: 12 }, (_, n) => fine(n + 1)), 4],
  ['a real one alone', [real(3)], 1],
  ['a real one after two', [fine(4), fine(3), real(2)], 1.5],
  ['a real one before', [real(4), fine(3)], 1.5],
  ['the order in which it was said does not matter', [real(2), fine(3), fine(4)], 1.5],
  [
    'three real ones after twelve',
    [...Array.from({ length: 12 }, (_, n) => fine(n + 10)), real(3), real(2), real(1)],
    1.5,
  ],
  ['two alerts about one time', [fine(3), fine(3, { from: NOON - 3 * DAY + 600_000 })], 1.5],
  ['two alerts one after the other', [fine(3), fine(3, { from: NOON - 3 * DAY + HOUR, to: NOON - 2 * DAY })], 2.25],
  ['one of eight weeks ago', [fine(56.1)], 1],
  ['one of just under eight weeks ago', [fine(56)], 1.5],
]
for (const [what, feedback, widening] of WIDENINGS) {
  test(`widening by feedback: ${what} makes ${widening}`, () => {
    assert.equal(wideningOf(feedback, NOON), widening)
  })
}

test('a widened level is bounded, and never narrower than it was', () => {
  const noise = (level: number) => ({
    burst: 2,
    group: 2,
    level: () => level,
    ofSilence: () => level,
    steady: () => level / 2,
    doubt: 0,
  })
  assert.deepEqual([widened(noise(0.1), 4).level(DAY), widened(noise(0.1), 4).steady(DAY)], [0.4, 0.2])
  assert.equal(widened(noise(0.3), 4).level(DAY), MOST_LEVEL)
  assert.equal(widened(noise(0.6), 4).level(DAY), 0.6)
})

const steady: Rates = () => ({ page_view: 600, purchase: 60 })

const usualWith = (feedback: readonly Feedback[], usual: Rates = steady): UsualCounts =>
  volumeInput({ usual, feedback }).usual

/** What passes for a subject. */
const levelOf = (usual: UsualCounts, name: string | null): number => usual.of(name).noise.level(HOUR)

test('the spread of the subject of an alert is widened, and of no other', () => {
  const [without, ofEvent, ofSite] = [usualWith([]), usualWith([fine(3, { name: 'purchase' })]), usualWith([fine(3)])]
  assert.equal(levelOf(ofEvent, 'purchase'), 1.5 * levelOf(without, 'purchase'))
  assert.equal(levelOf(ofEvent, 'page_view'), levelOf(without, 'page_view'))
  assert.equal(levelOf(ofEvent, null), levelOf(without, null))
  assert.equal(levelOf(ofSite, null), 1.5 * levelOf(without, null))
  assert.equal(levelOf(ofSite, 'purchase'), levelOf(without, 'purchase'))
})

/** One morning of the last weeks had hardly any events. */
const QUIET = { from: NOON - 14 * DAY - 4 * HOUR, to: NOON - 14 * DAY + 4 * HOUR }
const isQuiet = (time: number) => time >= QUIET.from && time < QUIET.to
const withQuiet: Rates = (time) => (isQuiet(time) ? { page_view: 60, purchase: 6 } : steady(time))

test('a time that was no problem counts as usual, a real one does not, neither does both at once', () => {
  const expected = (verdicts: readonly FeedbackVerdict[]) => {
    const feedback = verdicts.map((verdict) => ({ ...QUIET, verdict, name: null }))
    const usual = usualWith(feedback, withQuiet)
    return ['page_view', null].map((name) => usual.of(name).expectedIn(NOON) / 12)
  }
  for (const [index, full] of [600, 660].entries()) {
    const [unsaid, normal, fault, both] = [[], ['not_a_problem'], ['real'], ['not_a_problem', 'real']].map(
      (verdicts) => expected(verdicts as FeedbackVerdict[])[index] ?? 0,
    )
    assert.ok(unsaid !== undefined && unsaid > 0.95 * full, `${unsaid} of ${full}`)
    // The mean of four weeks, one of which had a tenth.
    assert.ok(normal !== undefined && Math.abs(normal - 0.775 * full) < 0.01 * full, `${normal} of ${full}`)
    assert.ok(fault !== undefined && fault > 0.95 * full, `${fault} of ${full}`)
    assert.equal(both, fault)
  }
})

test('the last day is never its own measure, whatever was said of it', () => {
  const today = { from: NOON - 20 * HOUR, to: NOON, name: null }
  const recent: Rates = () => ({ page_view: 60, purchase: 6 })
  const expected = (feedback: readonly Feedback[]) =>
    volumeInput({ usual: steady, recent, feedback })
      .usual.of(null)
      .expectedIn(NOON + 2 * HOUR)
  assert.equal(expected([{ ...today, verdict: 'not_a_problem' }]), expected([]))
})

/** Whether an hour in which so many came, in five minutes each, is alerted. */
function statusOf(count: number, feedback: readonly Feedback[]): string {
  const recent: Rates = (time) => (time < NOON - 6 * SLOT ? { page_view: 40 } : { page_view: count })
  const { status } = dataVolume(
    volumeInput({ usual: () => ({ page_view: 40 }), recent, feedback }),
    DATA_VOLUME_DEFAULTS,
  )
  return status
}

test('after two that were no problem a borderline fall alarms no more, a total one does, and undoing brings the alarm back', () => {
  const counts = Array.from({ length: 40 }, (_, count) => count)
  const border = counts.findLast((count) => statusOf(count, []) !== 'ok')
  assert.ok(border !== undefined && border > 0, `it alarms at ${border}`)
  const two = [fine(9), fine(5)]
  assert.equal(statusOf(border, two), 'ok')
  assert.equal(statusOf(border, [...two, real(3), real(2)]), 'warning')
  assert.equal(statusOf(border, []), 'warning')
  const many = Array.from({ length: 20 }, (_, n) => fine(n + 2))
  assert.equal(statusOf(0, many), 'critical')
})

test('a finding says by how much feedback has widened what passes', () => {
  const recent: Rates = (time) => (time < NOON - 12 * SLOT ? steady(time) : {})
  const evidence = (feedback: readonly Feedback[]) =>
    dataVolume(volumeInput({ usual: steady, recent, feedback }), DATA_VOLUME_DEFAULTS).details.findings[0]?.evidence
  assert.equal(evidence([fine(4), fine(3)])?.widening, 2.25)
  assert.equal(evidence([])?.widening, undefined)
})
