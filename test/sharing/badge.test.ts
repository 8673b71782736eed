import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATUSES } from '../../src/dashboard/status.ts'
import { printable, shortened, svgText } from '../../src/lib/index.ts'
import { badge, LABEL_MAX, textWidth } from '../../src/sharing/badge.ts'
import { equalGolden } from '../notifications/services/golden.ts'

for (const status of STATUSES) {
  test(`the badge of a site that is ${status} looks as it should`, () => {
    equalGolden(import.meta.dirname, `badge/${status}.svg`, badge('shop.example', status))
  })
}

test('a badge of other letters, with markup and too long, looks as it should', () => {
  const name = 'Müller & Söhne <img src=x onerror="alert(1)"> 東京 店舗 ’n’ more of it'
  equalGolden(import.meta.dirname, 'badge/other-letters.svg', badge(name, 'warning'))
})

const widths: readonly [text: string, width: number][] = [
  ['', 0],
  ['i', 2.74],
  ['W', 9.89],
  ['ok', 11.99],
  ['é', 5.96],
  ['東京', 20],
  ['한국', 20],
  ['👍', 10],
  ['ж', 6.8],
  ['a\u0301', 6.01],
  ['x\u0301', 5.92],
  ['👨\u200d👩', 20],
]
for (const [text, width] of widths) {
  test(`“${text}” is ${width} px wide at 10 px`, () => assert.equal(Number(textWidth(text, 10).toFixed(2)), width))
}

const escaped: readonly [text: string, as: string][] = [
  ['<script>', '&#60;script&#62;'],
  ['a & "b" \'c\'', 'a &#38; &#34;b&#34; &#39;c&#39;'],
  ['a\u0000\u001b[31mb\ufffe', 'a  [31mb'],
  ['half \ud83d of one', 'half   of one'],
]
for (const [text, as] of escaped) {
  test(`${JSON.stringify(text)} stands in SVG as ${as}`, () => assert.equal(svgText(text), as))
}

test('a label is cut by what people count as characters', () => {
  assert.equal(shortened('x'.repeat(LABEL_MAX), LABEL_MAX), 'x'.repeat(LABEL_MAX))
  assert.equal(shortened('x'.repeat(LABEL_MAX + 1), LABEL_MAX), `${'x'.repeat(LABEL_MAX - 1)}…`)
  const family = '👨‍👩‍👧'
  assert.equal(shortened(family.repeat(3), 3), family.repeat(3))
  assert.equal(shortened(family.repeat(4), 3), `${family.repeat(2)}…`)
  assert.equal(printable('  a\tb\n'), 'a b')
})
