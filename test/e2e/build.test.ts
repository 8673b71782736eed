import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'
import { buildDashboard, DIST, ensureDashboard } from './support/dashboard.ts'

/** The most script and style that the first page may bring, compressed, bytes. */
const FIRST_LOAD_MAX = 200_000
/** What `/` leads to. */
const FIRST_PAGES = [
  ['overview', 'overview/OverviewPage'],
  ['morning', 'today/TodayPage'],
] as const

interface Chunk {
  file: string
  name?: string
  src?: string
  isEntry?: boolean
  imports?: string[]
  css?: string[]
  dynamicImports?: string[]
}

before(ensureDashboard)

const manifest = () =>
  JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>

/** The scripts and styles of a chunk, and of all that it cannot do without. */
function withImports(key: string, chunks = manifest(), found = new Set<string>()): Set<string> {
  const chunk = chunks[key]
  if (chunk === undefined || found.has(chunk.file)) return found
  for (const file of [chunk.file, ...(chunk.css ?? [])]) found.add(file)
  for (const imported of chunk.imports ?? []) withImports(imported, chunks, found)
  return found
}

/** As it is sent to a browser that reads Brotli; a file too small to compress as it is. */
function sentSize(file: string): number {
  const path = join(DIST, file)
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size
}

/** A page that comes with the program has no chunk of its own. */
const firstLoad = (page: string) => new Set([...withImports('index.html'), ...withImports(`src/features/${page}.tsx`)])

for (const [name, page] of FIRST_PAGES) {
  test(`the first load of the ${name} brings at most 200 kB of compressed script and style`, (t) => {
    const sizes = [...firstLoad(page)].map((file) => ({ file, size: sentSize(file) }))
    for (const ending of ['.js', '.css']) assert.ok(sizes.some(({ file }) => file.endsWith(ending)))
    const total = sizes.reduce((sum, { size }) => sum + size, 0)
    t.diagnostic(`${name}: ${total} bytes`)
    assert.ok(total <= FIRST_LOAD_MAX, `${total} bytes: ${JSON.stringify(sizes)}`)
  })

  test(`charts are no part of the first load of the ${name}`, () => {
    for (const file of firstLoad(page)) {
      assert.doesNotMatch(readFileSync(join(DIST, file), 'utf8'), /echarts|zrender/i, file)
    }
  })
}

test('every component of Mantine that is shown has its styles', () => {
  const all = (ending: string) =>
    readdirSync(join(DIST, 'assets'))
      .filter((file) => file.endsWith(ending))
      .map((file) => readFileSync(join(DIST, 'assets', file), 'utf8'))
      .join('\n')
  const named = (text: string) => new Set(text.match(/\bm_[0-9a-f]{6,}\b/g))
  const styles = join(REPOSITORY, 'node_modules/@mantine/core/styles')
  const [scripts, css] = [named(all('.js')), named(all('.css'))]
  const without = readdirSync(styles)
    .filter((file) => file.endsWith('.layer.css'))
    .filter((file) =>
      [...named(readFileSync(join(styles, file), 'utf8'))].some((name) => scripts.has(name) && !css.has(name)),
    )
  assert.ok(css.size > 50)
  assert.deepEqual(without, [], 'import them in web/src/theme/mantine.css, or where they are used')
})

test('every color that is asked for is declared', () => {
  const texts = readdirSync(join(DIST, 'assets'))
    .filter((file) => /\.(?:css|js)$/.test(file))
    .map((file) => readFileSync(join(DIST, 'assets', file), 'utf8'))
  const declared = new Set(texts.flatMap((text) => text.match(/--mantine-color-[a-z]+-[\w-]+(?=:)/g) ?? []))
  const used = texts.flatMap((text) =>
    Array.from(text.matchAll(/var\((--mantine-color-[a-z]+-[\w-]+)/g), ([, name]) => name),
  )
  assert.ok(declared.size > 40 && used.length > 20, `${declared.size} ${used.length}`)
  // The theme declares these as the program starts.
  const isOfTheme = (name: string) => /-(?:gray|dark)-\d$/.test(name)
  assert.deepEqual(
    [...new Set(used)].filter((name) => name !== undefined && !declared.has(name) && !isOfTheme(name)),
    [],
  )
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
