import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPage } from '../../../src/probes/cmp-check/page.ts'

const URL = 'https://shop.example/'
const times = (count: number, tag: (n: number) => string) => Array.from({ length: count }, (_, n) => tag(n)).join('')

test('of a page 2,000 scripts are read, and it is said that there are more', () => {
  const scripts = (count: number) =>
    readPage(
      times(count, (n) => `<script src="${n}.js"></script>`),
      URL,
    )
  const whole = scripts(2_000)
  assert.deepEqual([whole.scripts.length, whole.isCut], [2_000, false])
  const cut = scripts(2_001)
  assert.deepEqual([cut.scripts.length, cut.isCut], [2_000, true])
  assert.equal(cut.scripts.at(-1)?.src, `${URL}1999.js`)
  const inline = readPage(
    times(2_001, (n) => `<script>a=${n}</script>`),
    URL,
  )
  assert.deepEqual([inline.scripts.length, inline.isCut], [2_000, true])
})

test('of a page 2,000 other addresses are read, and it is said that there are more', () => {
  for (const tag of [
    (n: number) => `<link rel="preload" href="${n}.css">`,
    (n: number) => `<iframe src="${n}.html"></iframe>`,
  ]) {
    const whole = readPage(times(2_000, tag), URL)
    assert.deepEqual([whole.otherUrls.length, whole.isCut], [2_000, false])
    const cut = readPage(times(2_001, tag), URL)
    assert.deepEqual([cut.otherUrls.length, cut.isCut], [2_000, true])
  }
})

/** What is left of an address that is absolute already, so that nothing is put in front of it. */
const HOST = 'https://a.example/'
const LONG = HOST + 'a'.repeat(100_000)

test('of an address 2,048 characters are read, wherever it stands', () => {
  const [script] = readPage(`<script src="${LONG}"></script>`, URL).scripts
  assert.equal(script?.src, LONG.slice(0, 2_048))
  const { otherUrls } = readPage(`<iframe src="${LONG}"></iframe><link rel="preload" href="${LONG}">`, URL)
  assert.deepEqual(otherUrls, [LONG.slice(0, 2_048), LONG.slice(0, 2_048)])
  // Of the base as well, or each of 2,000 relative addresses would be as long as it.
  const [based] = readPage(`<base href="${LONG}/"><script src="x.js"></script>`, URL).scripts
  assert.ok((based?.src ?? LONG).length <= 2_048 + 'x.js'.length)
  // And of the page's own.
  const [relative] = readPage('<script src="x.js"></script>', LONG).scripts
  assert.equal(relative?.src, `${HOST}x.js`)
})

test('an address that is written with entities is cut at the same length', () => {
  const [script] = readPage(`<script src="${HOST}${'&#97;'.repeat(100_000)}"></script>`, URL).scripts
  assert.equal(script?.src, LONG.slice(0, 2_048))
})
