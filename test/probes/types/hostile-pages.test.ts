import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ProbeType } from '../../../src/probes/probe-type.ts'
import { cmpCheck } from '../../../src/probes/types/cmp-check.ts'
import { PageReader } from '../../../src/probes/types/pages.ts'
import { tagManagerVersion } from '../../../src/probes/types/tag-manager-version.ts'
import { httpServer } from '../../outbound/support.ts'
import { runType, siteRow } from './run-type.ts'

const script = (src: string) => `<script src="${src}"></script>`
const inline = (code: string) => `<script>${code}</script>`
const MB = 1_024 * 1_024
/** As much of it as a page has room for. */
const filled = (unit: string, length = 1.9 * MB) => unit.repeat(Math.floor(length / unit.length))

/** Pages that froze or ended the process when they were read beside everything else, or would have. */
const PAGES: readonly [what: string, html: string][] = [
  [
    'a long base before many preloads',
    `<base href="https://x.example/${'a'.repeat(600_000)}/">${filled('<link rel=preload href=a>', 600_000)}`,
  ],
  ['a base upon each base', filled(`<base href="${'a/'.repeat(900)}">`) + script('b.js')],
  ['an address like that of cookieconsent', script(`/${filled('cookieconsent/', 200_000)}`)],
  ['many addresses like that of cookieconsent', filled(script(`/${'cookieconsent@1/'.repeat(120)}`))],
  ['an address like that of Complianz', script(filled('/plugins/complianz-gdpr/', 1_500_000))],
  ['an address like that of Borlabs', script(filled('/plugins/borlabs-cookie/', 1_500_000))],
  ['an address like that of a challenge', script(filled('/cdn-cgi/challenge-platform/', 1_500_000))],
  ['an address like that of a firewall', script(filled('https://a.awswaf.com/'))],
  ['a text of addresses after much space', inline(`x="${' '.repeat(700_000)}${filled('//a.b/c.js ', 700_000)}"`)],
  ['many identifiers', inline(Array.from({ length: 200_000 }, (_, n) => `v${n.toString(36)}`).join(';'))],
  ['many calls for consent', inline(filled("gtag('consent','default',{a:1});"))],
  ['one call for consent with many keys', inline(`gtag('consent','default',{${filled('k1:1,')}})`)],
  ['many attributes', `<div ${Array.from({ length: 200_000 }, (_, n) => `a${n.toString(36)}`).join(' ')}>`],
  ['entities in one attribute', `<script src="${filled('&amp;')}"></script>`],
  ['a title without an end', `<title>${filled('&lt;x ')}`],
  ['slashes that may begin regular expressions', inline(filled('=/'))],
  ['templates in templates', inline(filled('`${'))],
  ['tags without an end', filled('<a<')],
  ['addresses that are scripts', filled(script(`data:text/javascript;base64,${'YTsv'.repeat(5_000)}`))],
  ['pairs of noscript', filled('<noscript></noscript>')],
  ['noscript without an end', filled('<noscript>')],
]

for (const [what, html] of PAGES) {
  test(`a page with ${what} is read in its thread, well within its limits`, async (t) => {
    const { port } = await httpServer(t, (_request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(html))
    })
    const base = `http://127.0.0.1:${port}`
    const site = siteRow({ url: `${base}/`, tag_manager_web_container_id: 'GTM-ABC1234', cmp_provider: 'Cookiebot' })
    for (const type of [cmpCheck, tagManagerVersion] satisfies ProbeType[]) {
      const config = type === cmpCheck ? { check_script: false } : {}
      const outcome = await runType(t, type, { site, config, timeoutMs: 60_000, settings: { tagManagerBaseUrl: base } })
      assert.doesNotMatch(JSON.stringify([outcome.message, outcome.details]), /gave up reading/)
      assert.ok(JSON.stringify(outcome.details).length < 16_000)
    }
  })
}

test('a script of a container that is all backslashes is read in time', async (t) => {
  const { port } = await httpServer(t, (request, response) =>
    response.end(request.url?.startsWith('/gtm.js') ? filled('\\', 1_900_000) : '<p>'),
  )
  const base = `http://127.0.0.1:${port}`
  const site = siteRow({ url: `${base}/`, tag_manager_web_container_id: 'GTM-ABC1234', cmp_provider: 'Cookiebot' })
  const outcome = await runType(t, cmpCheck, { site, timeoutMs: 60_000, settings: { tagManagerBaseUrl: base } })
  assert.equal(outcome.status, 'critical', outcome.message)
})

for (const [limit, limits, message] of [
  ['time', { timeMs: 1 }, /The page cannot be checked: Tagwarden gave up reading it: it takes more than 0.001 s/],
  ['memory', { heapMb: 8 }, /The page cannot be checked: Tagwarden gave up reading it: it takes more than 8 MB/],
] as const) {
  test(`a page that takes too much ${limit} is an error that says so`, async (t) => {
    const { port } = await httpServer(t, (request, response) => {
      response.end(request.url === '/large' ? filled(inline(`a="//${'x'.repeat(50)}.y/z";`)) : '<p>')
    })
    const pages = new PageReader(limits)
    t.after(() => pages.close())
    const url = `http://127.0.0.1:${port}`
    const given = { config: { check_script: false }, pages, timeoutMs: 60_000 }
    const outcome = await runType(t, cmpCheck, { site: siteRow({ url: `${url}/large` }), ...given })
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, message)
    assert.deepEqual(outcome.details.reason, 'unreadable')
  })
}
