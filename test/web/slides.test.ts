import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SiteState } from '../../src/dashboard/index.ts'
import { freshnessOf, LINES, type Slide, slideMs, slidesOf, TROUBLE_LINES } from '../../web/src/features/wall/slides.ts'
import { overviewOf, site } from './overviews.ts'

const outlineOf = (clients: Record<string, SiteState[]>) =>
  slidesOf(overviewOf(clients)).map(({ title, status, note, lines }: Slide) => ({
    title,
    status,
    note,
    lines: lines.map(({ name, text }) => `${name}: ${text}`),
  }))

test('clients in trouble come first, the worst of them first, with the sites that need someone', () => {
  const slides = outlineOf({
    Calm: [site('quay', 'ok'), site('dock', 'ok')],
    Slow: [site('mill', 'warning')],
    Broken: [site('alder', 'ok'), site('birch', 'critical'), site('cedar', 'warning'), site('elm', 'ok')],
    Empty: [],
    Fine: [site('pier', 'ok')],
  })
  assert.deepEqual(
    slides.map(({ title, status, note }) => [title, status, note]),
    [
      ['Broken', 'critical', 'and 2 more sites are fine'],
      ['Slow', 'warning', null],
      ['Clients without problems', 'ok', null],
    ],
  )
  assert.deepEqual(
    slides[0]?.lines.map((line) => line.split(':')[0]),
    ['birch', 'cedar'],
  )
  assert.deepEqual(slides[2]?.lines, ['Calm: 2 sites, all fine', 'Fine: 1 site, fine'])
})

test('a site that waits for its first event is no site that is fine', () => {
  const [slide] = outlineOf({ New: [site('alder', 'ok'), site('birch', 'unknown', { last_event_at: null })] })
  assert.equal(slide?.note, 'and 1 more site is fine')
  assert.deepEqual(
    slide?.lines.map((line) => line.split(':')[0]),
    ['birch'],
  )
})

test('what does not fit goes on, and no site is left out', () => {
  const many = Array.from({ length: 2 * TROUBLE_LINES + 1 }, (_, n) => site(`site ${n + 1}`, 'critical'))
  const slides = outlineOf({ Broken: [...many, site('well', 'ok')] })
  assert.deepEqual(
    slides.map(({ note, lines }) => [note, lines.length]),
    [
      ['part 1 of 3', TROUBLE_LINES],
      ['part 2 of 3', TROUBLE_LINES],
      ['part 3 of 3 · and 1 more site is fine', 1],
    ],
  )
  const clients = Array.from({ length: LINES + 1 }, (_, n): [string, SiteState[]] => [
    `client ${n}`,
    [site(`${n}`, 'ok')],
  ])
  assert.deepEqual(
    outlineOf(Object.fromEntries(clients)).map(({ note, lines }) => [note, lines.length]),
    [
      ['part 1 of 2', LINES],
      ['part 2 of 2', 1],
    ],
  )
  assert.deepEqual(outlineOf({}), [])
})

const ADDRESSES: readonly [seconds: string, ms: number][] = [
  ['', 15_000],
  ['30', 30_000],
  ['5', 5_000],
  ['4', 15_000],
  ['601', 15_000],
  ['soon', 15_000],
  ['-20', 15_000],
]
for (const [seconds, ms] of ADDRESSES) {
  test(`"?seconds=${seconds}" shows a slide for ${ms / 1_000} s`, () => assert.equal(slideMs(seconds), ms))
}

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const KNOWN: readonly [title: string, known: Parameters<typeof freshnessOf>[0], staleSince: number | null][] = [
  ['an answer of this minute is fresh', { cutOff: null, readAt: NOW - 60_000, now: NOW }, null],
  ['without a connection, what was read last is stale', { cutOff: NOW, readAt: NOW - 5_000, now: NOW }, NOW - 5_000],
  ['answers that stay away make it stale', { cutOff: null, readAt: NOW - 181_000, now: NOW }, NOW - 181_000],
  ['nothing is stale before the first answer', { cutOff: NOW, readAt: 0, now: NOW }, null],
]
for (const [title, known, staleSince] of KNOWN) {
  test(`on a wall, ${title}`, () => assert.deepEqual(freshnessOf(known), { staleSince }))
}
