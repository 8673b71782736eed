import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { buildDashboard, DIST, ensureDashboard } from './support/dashboard.ts'

/** The most script that the first page may bring, compressed, bytes. */
const FIRST_LOAD_MAX = 250_000

interface Chunk {
  file: string
  name?: string
  src?: string
  isEntry?: boolean
  imports?: string[]
  dynamicImports?: string[]
}

before(ensureDashboard)

const manifest = () =>
  JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>

/** A chunk and all that it cannot do without, by file. */
function withImports(key: string, chunks = manifest(), found = new Set<string>()): Set<string> {
  const chunk = chunks[key]
  if (chunk === undefined || found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const imported of chunk.imports ?? []) withImports(imported, chunks, found)
  return found
}

/** As it is sent to a browser that reads Brotli; a file too small to compress as it is. */
function sentSize(file: string): number {
  const path = join(DIST, file)
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size
}

const firstLoad = () =>
  new Set([...withImports('index.html'), ...withImports('src/features/overview/OverviewPage.tsx')])

test('the first load of the overview brings at most 250 kB of compressed script', () => {
  const files = [...firstLoad()]
  assert.ok(files.length >= 2)
  const total = files.reduce((sum, file) => sum + sentSize(file), 0)
  assert.ok(total <= FIRST_LOAD_MAX, `${total} bytes in ${files.join(', ')}`)
})

test('charts are no part of the first load', () => {
  for (const file of firstLoad()) {
    assert.doesNotMatch(readFileSync(join(DIST, file), 'utf8'), /echarts|zrender/i, file)
  }
})

test('the page holds no script, no style and no address of another host', () => {
  const html = readFileSync(join(DIST, 'index.html'), 'utf8')
  assert.doesNotMatch(html, /<style|\son\w+=|\sstyle=|https?:\/\//)
  for (const [, attributes = '', content = ''] of html.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)) {
    assert.match(attributes, /\ssrc="\//)
    assert.equal(content.trim(), '')
  }
})

test('the build says what it was made of, and what it depends on makes another', async () => {
  const madeOf = readFileSync(join(DIST, '.made-of'), 'utf8')
  assert.match(madeOf, /^[0-9a-f]{64}$/)
  const { mtimeMs } = statSync(join(DIST, 'index.html'))
  await buildDashboard()
  assert.equal(statSync(join(DIST, 'index.html')).mtimeMs, mtimeMs)
})
