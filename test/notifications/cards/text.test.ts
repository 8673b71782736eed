import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import {
  cut,
  defanged,
  escapedWithin,
  LocalTimes,
  lengthInWords,
  oneLine,
  printable,
  summaryOf,
} from '../../../src/notifications/cards/card.ts'
import { cardOf } from '../../../src/notifications/cards/card-of.ts'
import { incidentsInWords, morningOf, percent, scoreOf, trendOf } from '../../../src/notifications/cards/digest-card.ts'
import type { AlertMessage, MessageGroup } from '../../../src/notifications/message.ts'
import { digest, SAMPLES } from '../services/samples.ts'

const CUTS = [
  ['short enough', 20, 'short enough'],
  ['exactly ten', 11, 'exactly ten'],
  ['it ends at a word that is whole', 20, 'it ends at a word…'],
  ['no comma, before the dots', 17, 'no comma, before…'],
  ['oneverylongwordwithoutanyend', 10, 'oneverylo…'],
  ['x 😀😀😀😀', 6, 'x 😀…'],
  ['anything', 1, '…'],
] as const

for (const [text, max, expected] of CUTS) {
  test(`"${text}" cut to ${max} is "${expected}"`, () => equal(cut(text, max), expected))
}

test('whatever is cut stays well formed and within its length, escaped or not', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 1, max: 300 }), (raw, max) => {
      const text = printable(raw)
      ok(cut(text, max).length <= max)
      ok(cut(text, max).isWellFormed())
      const escaped = escapedWithin(text, Math.max(max, 10), (part) => part.replaceAll('&', '&amp;'))
      ok(escaped.length <= Math.max(max, 10))
      ok(!/&(?!amp;)/.test(escaped))
    }),
  )
})

const DEFANGED = [
  ['see https://evil.example/login', 'see https[:]//evil[.]example/login'],
  ['HTTP://evil.example', 'HTTP[:]//evil.example'],
  ['www.evil.example', 'www[.]evil.example'],
  ['pay at evil.example/now', 'pay at evil[.]example/now'],
  ['checkout.step1', 'checkout.step1'],
  ['and/or', 'and/or'],
  ['sign in at evil.example:8443/x', 'sign in at evil[.]example:8443/x'],
  ['evil.example?token=1 or evil.example#a', 'evil[.]example?token=1 or evil[.]example#a'],
  ['evil.рф/now, evil.xn--p1ai/now', 'evil[.]рф/now, evil[.]xn--p1ai/now'],
  ['page.view: failed? order.paid #2', 'page.view: failed? order.paid #2'],
] as const

for (const [text, expected] of DEFANGED) {
  test(`a name of "${text}" is written as "${expected}"`, () => equal(defanged(text), expected))
}

test('what does not print, or turns the direction of the text, is left out', () => {
  equal(printable('\u200e\u200f\u061ca\0b\u0007c\r\nd\u202Ee\u2066f\tg '), 'abc\ndef g')
  equal(oneLine('  one\n\n two\r\nthree\u2028four '), 'one two three four')
  equal(printable('half \ud83d a character'), 'half \ufffd a character')
})

const LENGTHS = [
  [0, 'less than a minute'],
  [59_999, 'less than a minute'],
  [MINUTE, '1 min'],
  [42 * MINUTE, '42 min'],
  [119 * MINUTE, '119 min'],
  [2 * HOUR, '2 h'],
  [2 * HOUR + 10 * MINUTE, '2 h 10 min'],
  [47 * HOUR, '47 h'],
  [2 * DAY, '2 days'],
  [10 * DAY + 5 * HOUR, '10 days'],
  // A clock that was set back.
  [-5 * MINUTE, 'less than a minute'],
] as const

for (const [length, words] of LENGTHS) {
  test(`${length} ms are ${words}`, () => equal(lengthInWords(length), words))
}

const at = Date.parse('2026-11-20T09:24:00Z')
const since = at - 42 * MINUTE

const MOMENTS = [
  ['Europe/Berlin', since, '09:42 CET'],
  ['Europe/Berlin', since - DAY, '19 Nov 09:42 CET'],
  ['Europe/Berlin', Date.parse('2026-07-01T10:00:00Z'), '1 Jul 12:00 CEST'],
  ['Europe/Berlin', since - 365 * DAY, '20 Nov 2025 09:42 CET'],
  ['America/New_York', since, '03:42 EST'],
  ['America/New_York', at - 5 * HOUR, '19 Nov 23:24 EST'],
  ['Australia/Sydney', since, '19:42 AEDT'],
  ['Asia/Kolkata', since, '14:12 GMT+5:30'],
  ['UTC', since, '08:42 UTC'],
  ['UTC', Date.parse('2026-11-20T00:05:00Z'), '00:05 UTC'],
  ['Nowhere/At_All', since, '08:42 UTC'],
] as const

for (const [zone, time, words] of MOMENTS) {
  test(`in ${zone} it is ${words}`, () => equal(new LocalTimes(zone).moment(time, at), words))
}

test('a span names a day where it is not plain', () => {
  const times = new LocalTimes('Europe/Berlin')
  equal(times.span(since, at, at), '09:42 – 10:24 CET')
  equal(times.span(since - DAY, at - DAY, at), '19 Nov 09:42 – 10:24 CET')
  equal(times.span(since - DAY, at, at), '19 Nov 09:42 – 20 Nov 10:24 CET')
})

test('a span over a change of the clocks names both zones, or its length would not fit its times', () => {
  const [from, to] = [Date.parse('2026-10-24T21:00Z'), Date.parse('2026-10-25T05:00Z')]
  equal(new LocalTimes('Europe/Berlin').span(from, to, at), '24 Oct 23:00 CEST – 25 Oct 06:00 CET')
})

test('a digest rounds neither to all nor to nothing what is not', () => {
  const site = { id: '', name: 'shop', score: null, score_before: null, worse_tags: [] }
  const trend = (events: number, events_before: number) => trendOf({ ...site, events, events_before })
  deepEqual([trend(1, 1_000), trend(0, 1_000), trend(1_004, 1_000)], ['−99 %', '−100 %', 'as before'])
  deepEqual([1, 0.9996, 0.69, 0.0004, 0].map(percent), ['100 %', '99.9 %', '69 %', '0.1 %', '0 %'])
})

test('a digest rounds a score down, as the dashboard does', () => {
  const site = { id: '', name: 'shop', events: 1, events_before: 1, worse_tags: [] }
  const words = (score: number, score_before: number | null) => scoreOf({ ...site, score, score_before })
  deepEqual([words(69.8, 70.1), words(69.8, 69.2), words(49.9, null)], ['69 (was 70)', '69', '49'])
})

test('a digest without incidents says where no probe could have found one', () => {
  const words = (unwatched: number) => incidentsInWords({ ...digest, incidents: [], unwatched })
  deepEqual([0, 2, 3].map(words), [
    'No incidents',
    'No incidents; 2 of 3 sites have no active probe',
    'No incidents: no probe is active',
  ])
})

test('a digest of as many versions as are read says that these are the latest', () => {
  const versions = Array.from({ length: 50 }, (_, n) => ({ site: 'shop', text: `web container ${n}`, at }))
  const titles = (count: number) => {
    const morning = { changes: [], versions: versions.slice(0, count), quota: null, muted: [] }
    return morningOf({ ...digest, morning }).map(({ title }) => title)
  }
  deepEqual([titles(49), titles(50)], [['Versions published'], ['Versions published, the latest 50']])
})

const NEWS = [
  ['opened', 'X fails · since'],
  ['explained', 'Cause found: “The tag server does not answer”. X fails · since'],
  ['reminder', 'Cause found: “The tag server does not answer”. X fails · since'],
  ['escalated', 'X fails · since'],
] as const
for (const [kind, begin] of NEWS) {
  test(`on a lock screen a message of the kind ${kind} begins with "${begin}"`, () => {
    const said = { ...SAMPLES.explained, kind } as AlertMessage
    const message = { ...said, alert: { ...said.alert, title: 'X fails' } }
    const summary = summaryOf(cardOf(message, { publicUrl: 'https://tagwarden.example', at }))
    ok(summary.includes(`Tag failures: ${begin}`), summary)
  })
}

test('on a lock screen a message about more events begins with them', () => {
  const summary = summaryOf(cardOf(SAMPLES.widened as AlertMessage, { publicUrl: 'https://tagwarden.example', at }))
  ok(summary.includes('Tag failures: Now also on “purchase”. Meta CAPI fails'), summary)
})

test('on a lock screen a cause that was found is named once', () => {
  const said = SAMPLES.explained as AlertMessage
  const message = { ...said, alert: { ...said.alert, title: 'The tag server does not answer' } }
  const summary = summaryOf(cardOf(message, { publicUrl: 'https://tagwarden.example', at }))
  ok(summary.includes('Tag failures: Cause found: The tag server does not answer · since'), summary)
})

test('the link leads to the incident, where one click acknowledges all of its alerts, or to those of the client', () => {
  const options = { publicUrl: 'https://tagwarden.example', at }
  const { link } = cardOf(SAMPLES.explained as AlertMessage, options)
  equal(link.url, 'https://tagwarden.example/incidents/019a9f6c-4a40-7000-8000-0000000000b0')
  const several = cardOf(SAMPLES.group as MessageGroup, options)
  equal(several.link.url, 'https://tagwarden.example/incidents?client=7f3a2f0e-0000-4000-8000-0000000000c1')
})

test('on a lock screen a reminder ends with what is lost so far, and an end with what was', () => {
  const said = SAMPLES.costly as AlertMessage
  const options = { publicUrl: 'https://tagwarden.example', at }
  ok(summaryOf(cardOf(said, options)).endsWith('. Lost so far: about 267 of 425 purchases (63 %; between 240 and 310)'))
  const incident = said.incident && { ...said.incident, impact: { text: '267 of 425 purchases (63 %)', final: true } }
  const over = { ...(SAMPLES.resolved as AlertMessage), ...(incident === undefined ? {} : { incident }) }
  const end =
    'Fine again after 42 min. It was: Meta CAPI fails on 31 % of purchase events. Lost: 267 of 425 purchases (63 %)'
  ok(summaryOf(cardOf(over, options)).endsWith(end))
})
