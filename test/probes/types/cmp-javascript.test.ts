import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameSite } from '../../../src/probes/cmp-check/fetch.ts'
import { tokensOf } from '../../../src/probes/cmp-check/javascript.ts'
import { readPage } from '../../../src/probes/cmp-check/page.ts'
import { scriptFacts } from '../../../src/probes/cmp-check/script-facts.ts'

const pieces = (code: string) => [...tokensOf(code)].map(({ kind, text }) => (kind === 'string' ? `'${text}'` : text))

/** What a template may hold: code, with another template in it. */
const NESTED = 'a $' + '{b ? `c $' + '{"}"} d` : {}} e'

const CODE: readonly [code: string, pieces: string[]][] = [
  ["f('a', 1.5)", ['f', '(', "'a'", ',', '1', '.', '5', ')']],
  ['x // "no"\ny /* \'no\' */ z <!-- no\nw', ['x', 'y', 'z', 'w']],
  [
    String.raw`'it\'s' "\x41\u0042\u{43}\
D\n"`,
    ["'it's'", "'ABCD\n'"],
  ],
  [`\`${NESTED}\` f`, [`'${NESTED}'`, 'f']],
  ['a = /[\'"/]/g.test(b)', ['a', '=', '.', 'test', '(', 'b', ')']],
  ['a / b / c', ['a', '/', 'b', '/', 'c']],
  ['return /"/', ['return']],
  ["'open\nf('b')", ["'open'", 'f', '(', "'b'", ')']],
  ['`open', ["'ope'"]],
  ['/* open', []],
  ["'", ["''"]],
  ['größe$1', ['größe$1']],
]
for (const [code, expected] of CODE) {
  test(`JavaScript is taken apart: ${JSON.stringify(code)}`, () => assert.deepEqual(pieces(code), expected))
}

test('a script after a noscript is where it stands in the page', () => {
  const html = '<p><noscript>x</noscript>\n<noscript>y</noscript><script>a</script><script src="/b.js"></script>'
  const places = readPage(html, 'https://shop.example/').scripts.map(({ at }) => at)
  assert.deepEqual(places, [html.indexOf('a</script>'), html.indexOf('<script src')])
})

test('every piece says where it stands', () => {
  const code = "/* x */ gtag ( 'consent' )"
  for (const { text, at, kind } of tokensOf(code))
    assert.equal(code.indexOf(kind === 'string' ? `'${text}'` : text), at)
})

const CALLS: readonly [code: string, values: Record<string, string | null> | null, isWhole: boolean][] = [
  [`gtag('consent','default',{ad_storage:"denied"})`, { ad_storage: 'denied' }, true],
  [`window . gtag ( "consent" , 'default' , { 'ad_storage' : "granted" , } )`, { ad_storage: 'granted' }, true],
  [
    "gtag('consent', 'default', {ad_storage: `denied`, wait_for_update: 500})",
    { ad_storage: 'denied', wait_for_update: '500' },
    true,
  ],
  [
    `gtag('consent','default',{ad_storage: ok ? 'granted' : 'denied', x: 'a' + b})`,
    { ad_storage: null, x: null },
    true,
  ],
  [
    `gtag('consent','default',{region:['ES','US-AK'],ad_storage:'denied'})`,
    { region: null, ad_storage: 'denied' },
    true,
  ],
  [
    `gtag('consent','default',{ad_storage, analytics_storage:'denied'})`,
    { ad_storage: null, analytics_storage: 'denied' },
    true,
  ],
  [`gtag('consent','default',{...all, ad_storage:'denied'})`, { ad_storage: 'denied' }, false],
  [`gtag('consent','default',{[key]:'denied'})`, {}, false],
  [`gtag('consent','default',settings)`, {}, false],
  [`gtag('consent','default')`, {}, false],
  [`gtag('consent','update',{ad_storage:'denied'})`, null, true],
  [`gtag('set','consent','default')`, null, true],
  [`['consent','default',{}]`, null, true],
  [`gtag('consent','default',{ad_storage:`, null, true],
  [`log("gtag('consent','default',{})")`, null, true],
]
for (const [code, values, isWhole] of CALLS) {
  test(`a consent default is read: ${code}`, () => {
    const { defaults } = scriptFacts(code)
    assert.deepEqual(
      defaults.map((call) => [{ ...call.values }, call.isWhole]),
      values === null ? [] : [[values, isWhole]],
    )
  })
}

const scriptsOf = (html: string) =>
  readPage(html, 'https://shop.example/en/').scripts.map(({ src, code }) => src ?? code)

const PAGES: readonly [html: string, scripts: string[]][] = [
  ['<script src="/a.js?b=1&amp;c=2"></script>', ['https://shop.example/a.js?b=1&c=2']],
  ['<base href="https://cdn.example/x/"><script src=b.js></script>', ['https://cdn.example/x/b.js']],
  ['<SCRIPT SRC=//cdn.example/a.js></SCRIPT>', ['https://cdn.example/a.js']],
  ['<script>if (a < b && "</p>") c()</script>', ['if (a < b && "</p>") c()']],
  ['<!-- <script src=a.js></script> --><textarea><script>x</script></textarea><title><script>y</script></title>', []],
  ['<noscript><script>x</script></noscript><template><script>y</script></template>', []],
  ['<noscript><iframe src="/ns.html"></noscript><script src="/a.js"></script>', ['https://shop.example/a.js']],
  ['<noscript><img alt="x></NoScript ><script src="/a.js"></script><p title="y">', ['https://shop.example/a.js']],
  ['<noscript><noscript><!--<style></noscript><script>a</script></noscript><script>b</script>', ['a', 'b']],
  ['<noscript><script>x</script>', []],
  ['<script type="application/json">{}</script><script type="text/plain" src="a.js"></script>', []],
  ['<script type=module>a</script><script type="abc123-text/javascript">b</script>', ['a', 'b']],
  ['<script type="text/rocketlazyloadscript" data-rocket-src="/a.js"></script>', ['https://shop.example/a.js']],
  ['<script type="pmdelayedscript" src="/a.js"></script>', ['https://shop.example/a.js']],
  [
    '<script type="javascript/blocked" data-wpmeteor-type="text/javascript" data-wpmeteor-src="/a.js"></script><script type="javascript/blocked">b</script>',
    ['https://shop.example/a.js'],
  ],
  [
    `<script defer src="data:text/javascript;base64,${btoa('go("//a.example/b.js")')}"> </script>`,
    ['go("//a.example/b.js")'],
  ],
  ['<script src="data:application/javascript;charset=utf-8,a%28%22%C3%A4%22)">x</script>', ['a("ä")']],
  ['<script src="data:text/javascript,100%">', ['100%']],
  ['<script src="https://[bad"></script>', ['https://[bad']],
  ['<script>open', ['open']],
  ['<script src="a.js" src="b.js"></script>', ['https://shop.example/en/a.js']],
]
test('an address that is itself a script is read to 100,000 characters', () => {
  const [code = ''] = scriptsOf(`<script src="data:text/javascript,${'a'.repeat(200_000)}"></script>`)
  assert.equal(code.length, 100_000 - 'data:text/javascript,'.length)
})

for (const [html, scripts] of PAGES) {
  test(`scripts of a page are those that a browser runs: ${html}`, () => assert.deepEqual(scriptsOf(html), scripts))
}

const SITES: readonly [from: string, to: string, isSame: boolean][] = [
  ['http://shop.example', 'https://shop.example', true],
  ['http://shop.example', 'https://www.shop.example/en', true],
  ['https://www.shop.example', 'https://de.shop.example', true],
  ['https://a.co.example', 'https://b.co.example', false],
  ['https://shop.example', 'https://shop.example.evil.example', false],
  ['https://shop.example', 'https://myshop.example', false],
  ['https://example', 'https://shop.example', false],
]
for (const [from, to, isSame] of SITES) {
  test(`a redirect from ${from} to ${to} ${isSame ? 'stays' : 'leaves'}`, () =>
    assert.equal(isSameSite(new URL(from), new URL(to)), isSame))
}
