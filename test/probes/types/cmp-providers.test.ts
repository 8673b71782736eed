import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerNamed } from '../../../src/probes/cmp-check/find-providers.ts'
import { PROVIDERS } from '../../../src/probes/cmp-check/providers.ts'
import { cmpCheck } from '../../../src/probes/types/cmp-check.ts'
import { httpServer } from '../../outbound/support.ts'
import { CONSENT_DEFAULT, CONTAINER_SNIPPET, containerScript, pageWith, SNIPPETS } from './cmp-pages.ts'
import { runType, siteRow } from './run-type.ts'

test('at least 25 providers are known, each by a snippet, and no two share a name', () => {
  assert.ok(PROVIDERS.length >= 25)
  assert.deepEqual(
    Object.keys(SNIPPETS),
    PROVIDERS.map(({ id }) => id),
  )
  const names = PROVIDERS.flatMap(({ id, name, aliases = [] }) => [...new Set([id, name.toLowerCase(), ...aliases])])
  for (const name of names) assert.equal(PROVIDERS.filter((each) => providerNamed(name) === each).length, 1, name)
})

for (const { id, name } of PROVIDERS) {
  for (const [index, snippet] of (SNIPPETS[id] ?? []).entries()) {
    test(`${name} is found by its snippet ${index + 1}, and nothing else is`, async (t) => {
      const { port } = await httpServer(t, (request, response) => {
        if (request.url?.startsWith('/gtm.js')) response.end(containerScript(''))
        else response.end(pageWith(CONSENT_DEFAULT, snippet, CONTAINER_SNIPPET))
      })
      const base = `http://127.0.0.1:${port}`
      const outcome = await runType(t, cmpCheck, {
        site: siteRow({ url: `${base}/`, cmp_provider: name }),
        // The addresses in the snippets lead to the providers.
        config: { check_script: false },
        settings: { tagManagerBaseUrl: base },
      })
      assert.deepEqual([outcome.status, outcome.details.findings], ['ok', []], outcome.message)
      const found = outcome.details.found as { id: string }[]
      assert.deepEqual(
        found.map((each) => each.id),
        [id],
      )
      assert.ok(outcome.message.startsWith(`${name} is there (in the page`), outcome.message)
    })
  }
}

const IN_CONTAINER: readonly [what: string, tag: string, id: string][] = [
  [
    'an HTML tag',
    String.raw`{"function":"__html","priority":1000,"vtp_html":"\u003Cscript id=\"Cookiebot\" data-gtmsrc=\"https:\/\/consent.cookiebot.com\/uc.js\" data-cbid=\"0000\" type=\"text\/gtmscript\" async\u003E\u003C\/script\u003E","tag_id":7}`,
    'cookiebot',
  ],
  [
    'code in an HTML tag',
    String.raw`{"function":"__html","vtp_html":["template","\u003Cscript type=\"text\/gtmscript\"\u003E(function(e){var a=document.createElement(\"script\");a.src=\"https:\/\/sdk.privacy-center.org\/\"+e+\"\/loader.js\"})(\"",["escape",["macro",3],7],"\");\u003C\/script\u003E"],"tag_id":8}`,
    'didomi',
  ],
  [
    "a template's permission",
    String.raw`{"function":"__cvt_103_5","vtp_id":"1"}],"permissions":{"__cvt_103_5":{"inject_script":{"urls":["https:\/\/cdn-cookieyes.com\/client_data\/*"]}}},"x":[{}`,
    'cookieyes',
  ],
]
for (const [what, tag, id] of IN_CONTAINER) {
  test(`a provider is found in the web container: in ${what}`, async (t) => {
    const { port } = await httpServer(t, (request, response) => {
      if (request.url === '/gtm.js?id=GTM-ABC1234') response.end(containerScript(tag))
      else response.end(pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET))
    })
    const base = `http://127.0.0.1:${port}`
    const outcome = await runType(t, cmpCheck, {
      site: siteRow({ url: `${base}/`, cmp_provider: id }),
      settings: { tagManagerBaseUrl: base },
    })
    assert.equal(outcome.status, 'ok', outcome.message)
    assert.match(outcome.message, /is there \(in the web container: https:\/\//)
    assert.deepEqual(outcome.details.containers, [{ id: 'GTM-ABC1234', status: 200, why: null }])
  })
}
