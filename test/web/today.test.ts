import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Today } from '../../web/src/api/today.ts'
import {
  calmWords,
  comparedWords,
  dateLine,
  differenceWords,
  isWorse,
  momentLine,
  subjectWords,
  usualWords,
  valueWords,
  versionsWords,
} from '../../web/src/features/today/words.ts'
import { startOf } from '../../web/src/routes/start.ts'

test('the start page is the overview up to five sites, and where the address searches or nothing is known', () => {
  assert.deepEqual(
    [0, 5, 6, 1_000, null].map((sites) => startOf(sites, false)),
    ['/overview', '/overview', '/today', '/today', '/overview'],
  )
  assert.equal(startOf(1_000, true), '/overview')
})

test('a night without incidents is calm only as far as someone looked', () => {
  const words = (sites: number, unjudged: number, down_seconds = 59) =>
    calmWords(sites, unjudged, { down_seconds }).join('. ')
  assert.deepEqual(
    [words(0, 0), words(6, 6), words(6, 1), words(6, 0), words(6, 1, 9 * 3_600)],
    [
      'No site is watched. What breaks overnight is listed here. ',
      'No site is judged yet. So no incident could open: the overview says what each site is waiting for.',
      'Nothing broke overnight. No incident opened, and none is unresolved. 1 of 6 sites is not judged yet.',
      'Nothing broke overnight. No incident opened, and none is unresolved.',
      'No incident was seen overnight. Tagwarden was down for 9\u00a0h of it: what broke and recovered meanwhile is not known. 1 of 6 sites is not judged yet.',
    ],
  )
})

test('what changed is said with its unit', () => {
  const count = { kind: 'event' as const, name: 'purchase', now: 640, before: 1_290, expected: 1_290, usual: 103 }
  assert.deepEqual(
    [subjectWords(count), valueWords(count, 1_290), differenceWords(count), usualWords(count)],
    ['purchase', '1,290', '−50\u00a0%', '±8\u00a0%'],
  )
  assert.equal(differenceWords({ ...count, before: 0 }), 'new')
  assert.equal(usualWords({ ...count, expected: 0 }), '')
  const share = { kind: 'tag_failures' as const, name: 'Meta', now: 0.31, before: 0.004, expected: 0.004, usual: 0.012 }
  assert.deepEqual(
    [subjectWords(share), valueWords(share, 0.31), differenceWords(share), usualWords(share)],
    ['Meta, failure rate', '31\u00a0%', '+31 points', '±1.2 points'],
  )
  assert.deepEqual(
    [isWorse({ ...count, deviations: -5 }), isWorse({ ...count, deviations: 5 }), isWorse({ ...share, deviations: 5 })],
    [true, false, true],
  )
})

test('where no site is compared the reason stands there, also where there is no site', () => {
  const words = (sites: number, compared: number, hours_left_out = 0) =>
    comparedWords({ sites, changes: { compared, complete: true, hours_left_out } } as Today)
  assert.equal(words(0, 0), 'No site sent anything to compare with last week.')
  assert.equal(words(3, 0), words(0, 0))
  assert.equal(words(3, 3), null)
  assert.equal(words(3, 3, 2), '2 hours are left out: Tagwarden was down then, or a week before.')
  assert.equal(words(3, 0, 24), 'Nothing is compared: Tagwarden was down in these hours, or a week before.')
})

test('versions are said to be the latest where there may be more', () => {
  assert.deepEqual([49, 50].map(versionsWords), ['in the last 24 hours', 'in the last 24 hours, the latest 50'])
})

test('times are those of a zone, with the day', () => {
  const at = Date.parse('2026-11-25T13:20:00Z')
  assert.equal(dateLine(at, 'Europe/Berlin'), 'Wednesday 25 November 2026, 14:20 CET')
  assert.equal(momentLine(at, 'Europe/Berlin'), 'Wed\u00a025\u00a0Nov,\u00a014:20')
})
