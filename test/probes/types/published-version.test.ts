import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentOf, publishedVersion } from '../../../src/probes/tag-manager-version/page-text.ts'
import { gtmScript } from './gtm-script.ts'

const CASES: readonly [what: string, script: string, version: string | null][] = [
  ['the script as Google writes it', gtmScript('42'), '42'],
  ['a resource on one line', '{"resource":{"version":"7","macros":[]}}', '7'],
  ['a resource whose version comes last', '{"resource":{"macros":[{"version":"9"}],"tags":[],"version":"7"}}', '7'],
  ['versions before the resource', '{"version":"1","x":{"version":"2"},"resource":{"version":"7"}}', '7'],
  ['a version only in things inside the resource', '{"resource":{"tags":[{"version":"9"}]}}', null],
  ['a version only behind the resource', '{"resource":{"tags":[]},"version":"9"}', null],
  ['a resource that is only written in a string', 'var a = "\\"resource\\":{\\"version\\":\\"9\\"}"', null],
  [
    'a resource that is only written in comments',
    '// "resource":{"version":"8"}\n/* "resource":{"version":"9"} */',
    null,
  ],
  ['a string that is called resource', '{"a":"resource","b":{"version":"9"}}', null],
  ['a version that is written in a value', '{"resource":{"name":"version","b":"9"}}', null],
  ['quotes and brackets in strings', '{"a":"}\\"{","resource":{"b":"]}}","version":"7"}}', '7'],
  ['a script that is cut off behind the version', gtmScript('42').slice(0, 200), '42'],
  ['a script that is cut off before the version', '{"resource":{"tags":["abc', null],
  ['a comment that never ends', '/* "resource":{"version":"9"}', null],
  ['a sentence in its place', '{"resource":{"version":"7. Call +1 555 0100 to renew"}}', null],
  ['a megabyte in its place', `{"resource":{"version":"${'7'.repeat(1_000_000)}"}}`, null],
  ['a page', "<html><body>It's not here</body></html>", null],
  ['nothing', '', null],
]

for (const [what, script, version] of CASES) {
  test(`the published version in ${what} is ${version ?? 'not there'}`, () => {
    assert.equal(publishedVersion(script), version)
  })
}

test('two megabytes of one string are read', () => {
  const script = `{"a":"${'x\\"'.repeat(700_000)}","resource":{"version":"7"}}`
  assert.equal(publishedVersion(script), '7')
})

const LIVE = '&gtm_auth=s3cret&gtm_preview=env-1&gtm_cookies_win=x'
const PAGES: readonly [
  what: string,
  html: string,
  parameters: string[],
  environment: string | null,
  isLive: boolean,
][] = [
  ['the usual snippet', "j.src='https://www.googletagmanager.com/gtm.js?id='+i+dl;", [], null, true],
  [
    'the snippet of an environment',
    "'https://www.googletagmanager.com/gtm.js?id='+i+dl+ '&gtm_auth=s3cret&gtm_preview=env-3&gtm_cookies_win=x';",
    ['gtm_auth', 'gtm_preview'],
    'env-3',
    false,
  ],
  ['the snippet of the environment Live', LIVE, ['gtm_auth', 'gtm_preview'], 'env-1', true],
  ['Live with its debug mode', `${LIVE}&gtm_debug=x`, ['gtm_auth', 'gtm_debug', 'gtm_preview'], 'env-1', false],
  ['Live beside a draft', `${LIVE} ${LIVE.replace('env-1', 'env-12')}`, ['gtm_auth', 'gtm_preview'], 'env-12', false],
  [
    'an escaped URL',
    '<iframe src="https://x/ns.html?id=GTM-A&amp;gtm_preview=env-5">',
    ['gtm_preview'],
    'env-5',
    false,
  ],
  ['an escaped script', '"gtm.js?id=GTM-A\\x26gtm_debug=x"', ['gtm_debug'], null, false],
  ['a page that writes about gtm_preview', '<p>remove gtm_preview before going live</p>', [], null, true],
]

for (const [what, html, parameters, environment, isLive] of PAGES) {
  test(`${what} has ${parameters.join(' and ') || 'no parameters of a preview'}`, () => {
    assert.deepEqual(environmentOf(html), { parameters, environment, isLive })
  })
}
