import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import {
  apart,
  counted,
  csvField,
  duration,
  namesInWords,
  number,
  percent,
  quoted,
  shortened,
} from '../../src/lib/words.ts'

const WORDS: readonly [is: string, says: string][] = [
  [number(1_234.5), '1,235'],
  [number(2.345), '2.3'],
  [number(7), '7'],
  [counted(1.04, 'event'), '1 event'],
  [counted(1_200, 'event'), '1,200 events'],
  [percent(0.0512), '5.1 %'],
  [percent(0.5), '50 %'],
  [percent(0.000_4), '0.1 %'],
  [percent(0), '0 %'],
  [percent(0.996), '99.6 %'],
  [percent(0.999_6), '99.9 %'],
  [percent(1), '100 %'],
  [duration(10_000), 'less than a minute'],
  [duration(5 * MINUTE), '5 min'],
  [duration(119 * MINUTE), '119 min'],
  [duration(2 * HOUR), '2 h'],
  [duration(130 * MINUTE), '2 h 10 min'],
  [duration(3 * DAY), '3 days'],
]
for (const [is, says] of WORDS) test(`${says} is written so`, () => assert.equal(is, says))

const APART: readonly [value: number, bound: number, says: [string, string]][] = [
  [0.499, 0.5, ['49.9 %', '50 %']],
  [0.3, 0.5, ['30 %', '50 %']],
  [0.499_6, 0.5, ['49.96 %', '50 %']],
  [0.5, 0.5, ['50 %', '50 %']],
  [0.3, 0.975, ['30 %', '97.5 %']],
  [0.3, 1 / 3, ['30 %', '33 %']],
]
for (const [value, bound, says] of APART)
  test(`${value} beside ${bound} is ${says.join(' beside ')}`, () =>
    assert.deepEqual(apart(value, bound, percent), says))

const QUOTED: readonly [why: string, text: string, says: string][] = [
  ['a text without quotes stands between the outer marks', 'shop.acme.com is down', '“shop.acme.com is down”'],
  ['a quote inside takes the inner marks', '“Meta CAPI” failed', '“‘Meta CAPI’ failed”'],
  ['so do several', '“GA4” on “purchase”', '“‘GA4’ on ‘purchase’”'],
  ['one that is quoted a third time takes the outer marks again', 'Part of “‘GA4’ failed”', '“Part of ‘“GA4” failed’”'],
  ['one that was cut off is closed', '“Meta CAPI fai…', '“‘Meta CAPI fai…’”'],
  ['all that were cut off are closed', '“see ‘Meta…', '“‘see “Meta…”’”'],
  ['an apostrophe stays', 'the plan’s requests', '“the plan’s requests”'],
  ['an apostrophe stays inside a quote', '“the plan’s tag” failed', '“‘the plan’s tag’ failed”'],
  ['an end without a beginning stays as it is', 'a” b', '“a” b”'],
  ['straight marks are someone’s own, and stay', 'tag "A"', '“tag "A"”'],
  ['an empty text is an empty quote', '', '“”'],
]
for (const [why, text, says] of QUOTED) test(`of a text in quotes, ${why}`, () => assert.equal(quoted(text), says))

test('names in words are quoted like any text', () => {
  assert.equal(namesInWords(['“GA4” purchase', 'b', 'c', 'd']), '“‘GA4’ purchase”, “b”, “c” and 1 more')
})

test('a text is shortened by what people count as characters', () => {
  assert.equal(shortened('Zoë', 3), 'Zoë')
  assert.equal(shortened('👩‍👩‍👧 and 👩‍👩‍👧', 7), '👩‍👩‍👧 and 👩‍👩‍👧')
  assert.equal(shortened('👩‍👩‍👧 and 👩‍👩‍👧', 6), '👩‍👩‍👧 and…')
  assert.equal(shortened('abc', 2), 'a…')
})

test('texts that are short enough cost next to nothing, however many there are', () => {
  const before = process.threadCpuUsage()
  for (let n = 0; n < 20_000; n++) shortened('ef341f1b-11a8-4dfb-b644-84df29bc7bd7', 1_000)
  // Some 500 ms while each was split into characters, and 1 ms since.
  assert.ok(process.threadCpuUsage(before).user < 100_000)
})

test('what a spreadsheet takes for the beginning of a cell is no formula, with either separator', () => {
  const cases: readonly [name: string, field: string][] = [
    ['a;=1', "a;'=1"],
    ['a\t+1', "a\t'+1"],
    ['a\n=1;b', "a\n'=1;b"],
    ['a\r\n@b', "a\r\n'@b"],
    ['a;"=1;b', 'a;"\'=1;b'],
    ['a;""－1', 'a;""\'－1'],
    ['a=1, b "-2"; c', 'a=1, b "-2"; c'],
  ]
  for (const [name, field] of cases) assert.equal(csvField(name), field)
})
