import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { benchmarksPage } from '../../scripts/benchmarks-page.ts'
import { firstLoadOf, siteFaults } from '../../scripts/site-check.ts'
import { githubSlug } from '../../site/.vitepress/slug.ts'
import { tempDir } from '../../testkit/engines.ts'

const LINKS: readonly [html: string, problem: string | null][] = [
  ['<a href="/docs/tag.html">', null],
  ['<a href="/docs/">', null],
  ['<a href="tag.html#here">', null],
  ['<a href="/docs/tag.html#%68ere">', null],
  ['<a href="#own">', null],
  ['<a href="https://example.com/gone">', null],
  ['<a href="mailto:a@example.com">', null],
  ['<a href="/docs/gone.html">', '/docs/gone.html is not there'],
  ['<a href="/docs/tag.html#gone">', '/docs/tag.html#gone has no such anchor'],
  ['<a href="#gone">', '#gone has no such anchor'],
  ['<a href="/tag.html">', '/tag.html leaves the site'],
  ['<a href="../../etc/passwd">', '../../etc/passwd leaves the site'],
  ['<img src="/docs/gone.png">', '/docs/gone.png is not there'],
  ['<script src="/docs/gone.js">', '/docs/gone.js is not there'],
]

for (const [html, problem] of LINKS) {
  test(`on the built site ${html} ${problem === null ? 'is fine' : `is reported: ${problem}`}`, async (t) => {
    const dist = await tempDir(t)
    await writeFile(join(dist, 'index.html'), `<p id="own"></p>${html}`)
    await writeFile(join(dist, 'tag.html'), '<h2 id="here">')
    assert.deepEqual(
      siteFaults(dist, '/docs/').map((fault) => fault.problem),
      problem === null ? [] : [problem],
    )
  })
}

test('the first load is the page with its styles and scripts, each once and compressed, and no picture', async (t) => {
  const dist = await tempDir(t)
  await mkdir(join(dist, 'assets'))
  const files = { 'assets/a.js': 'a'.repeat(5_000), 'assets/a.css': 'b'.repeat(3_000), 'assets/a.png': 'c' }
  for (const [name, text] of Object.entries(files)) await writeFile(join(dist, name), text)
  const html =
    '<link rel="modulepreload" href="/x/assets/a.js"><script type="module" src="/x/assets/a.js"></script>' +
    '<link rel="preload stylesheet" href="/x/assets/a.css"><img src="/x/assets/a.png"><link rel="icon" href="/x/assets/a.png">'
  await writeFile(join(dist, 'index.html'), html)
  const bytes = [html, files['assets/a.js'], files['assets/a.css']].reduce(
    (sum, text) => sum + gzipSync(text).length,
    0,
  )
  assert.deepEqual(firstLoadOf(dist, 'index.html', '/x/'), { bytes, files: 3 })
})

test('anchors of the site are those of GitHub', () => {
  assert.equal(githubSlug('user_data_quality, ecommerce_quality'), 'user_data_quality-ecommerce_quality')
  assert.equal(githubSlug('What `serve` does'), 'what-serve-does')
  assert.equal(githubSlug('Where do I …?'), 'where-do-i-')
})

const RESULTS =
  '# Results\n\nText.\n\n## Ingest, 2026-11-20 13:11 UTC\n\nold\n\n## Reports, 2026-11-19 10:00 UTC\n\nreports\n## Ingest, 2026-11-20 13:22 UTC\n\nnew\n'

test('the page of benchmarks has the newest run of each kind, wherever it stands', () => {
  const page = benchmarksPage(RESULTS)
  assert.match(page, /## Ingest\n\nMeasured 2026-11-20 13:22 UTC\.\n\nnew\n/)
  assert.match(page, /## Reports\n\nMeasured 2026-11-19 10:00 UTC\.\n\nreports\n/)
  assert.doesNotMatch(page, /old/)
})

test('a heading of the results without a time is an error that names it', () => {
  assert.throws(() => benchmarksPage('## Ingest\n'), /"Ingest" is not "kind, time UTC"/)
})
