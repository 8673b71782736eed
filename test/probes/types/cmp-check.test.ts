import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../../../src/lib/index.ts'
import { createOutbound, type Outbound, OutboundError, parseOutboundAllow } from '../../../src/outbound/index.ts'
import type { JsonObject, ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { cmpCheck } from '../../../src/probes/types/cmp-check.ts'
import type { SiteRow } from '../../../src/store/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { until } from '../../../testkit/until.ts'
import { httpServer, lookupIn, tcpServer, testOutbound } from '../../outbound/support.ts'
import { ADDED_BY_PROTECTIONS, CHALLENGES } from './challenges.ts'
import { CONSENT_DEFAULT, CONTAINER_SNIPPET, containerScript, pageWith, SNIPPETS } from './cmp-pages.ts'
import { runType, siteRow } from './run-type.ts'

const [COOKIEBOT = ''] = SNIPPETS.cookiebot ?? []
const [KLARO = ''] = SNIPPETS.klaro ?? []
const FINE = pageWith(CONSENT_DEFAULT, COOKIEBOT, CONTAINER_SNIPPET)

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Given {
  /** Answers everything but `/gtm.js`; a text is the page. */
  page: string | Handler
  gtm?: string | Handler
  site?: Partial<SiteRow>
  config?: JsonObject
  memory?: JsonObject
  timeoutMs?: number
  outbound?: Outbound
}

/** Runs the check against a server that is the shop, Google and, by name, every provider. */
async function run(t: TestContext, given: Given): Promise<ProbeOutcome> {
  const { page, gtm = containerScript(''), site = {}, config = { check_script: false }, ...rest } = given
  const answer = (what: string | Handler): Handler =>
    typeof what === 'string' ? (_, response) => response.setHeader('content-type', 'text/html').end(what) : what
  const { port } = await httpServer(t, (request, response) => {
    const handler = request.url?.startsWith('/gtm.js') ? gtm : page
    answer(handler)(request, response)
  })
  const names = ['www.shop.example', 'shop.example', 'elsewhere.example', 'consent.cookiebot.com']
  const toAll = testOutbound(
    '127.0.0.0/8',
    {},
    lookupIn(Object.fromEntries(names.map((name) => [name, ['127.0.0.1']]))),
  )
  const ports = (text: string | null | undefined) => text?.replaceAll(':PORT', `:${port}`)
  return runType(t, cmpCheck, {
    outbound: toAll,
    settings: { tagManagerBaseUrl: `http://127.0.0.1:${port}` },
    ...rest,
    config,
    site: siteRow({ cmp_provider: 'cookiebot', ...site, url: ports(site.url) ?? `http://127.0.0.1:${port}/` }),
  })
}

const reason = ({ details }: ProbeOutcome) => details.reason
const stateOf = ({ details }: ProbeOutcome) => (details.consent_mode as { state: string }).state

test('cmp_check: a page with its platform and its consent defaults is fine', async (t) => {
  const outcome = await run(t, { page: FINE })
  assert.deepEqual([outcome.status, stateOf(outcome)], ['ok', 'set'])
  assert.equal(
    outcome.message,
    'Cookiebot is there (in the page: https://consent.cookiebot.com/uc.js); the consent defaults are set before measurement begins',
  )
  const { consent_mode } = outcome.details as { consent_mode: { defaults: { values: object }[] } }
  assert.deepEqual(consent_mode.defaults[0]?.values, {
    ad_storage: 'denied',
    analytics_storage: 'denied',
    ad_user_data: 'denied',
    ad_personalization: 'denied',
    wait_for_update: '500',
  })
  assert.ok(outcome.responseTimeMs !== undefined)
})

test('cmp_check: it asks as a browser does, and takes what is compressed', async (t) => {
  const seen: IncomingMessage['headers'][] = []
  const page: Handler = (request, response) => {
    seen.push(request.headers)
    response.setHeader('content-encoding', 'gzip').end(gzipSync(FINE))
  }
  assert.equal((await run(t, { page, config: { check_script: false, user_agent: 'Shop monitor' } })).status, 'ok')
  assert.equal((await run(t, { page })).status, 'ok')
  assert.equal(seen[0]?.['user-agent'], 'Shop monitor')
  assert.match(seen[1]?.['user-agent'] ?? '', /^Mozilla\/5\.0 .*Chrome/)
  assert.match(seen[1]?.accept ?? '', /^text\/html/)
  assert.match(String(seen[1]?.['accept-encoding']), /gzip/)
})

test('cmp_check: redirects are followed within the site', async (t) => {
  const page: Handler = (request, response) => {
    const host = request.headers.host ?? ''
    if (!host.startsWith('www.')) response.writeHead(301, { location: `http://www.${host}/` }).end()
    else if (request.url === '/') response.writeHead(302, { location: '/en/' }).end()
    else response.end(FINE)
  }
  const outcome = await run(t, { page, site: { url: 'http://shop.example:PORT/' } })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.match(JSON.stringify(outcome.details.page), /www\.shop\.example:\d+\/en\//)
})

test('cmp_check: a redirect to another site is an error, and is not followed', async (t) => {
  const hosts: string[] = []
  const page: Handler = (request, response) => {
    hosts.push(request.headers.host ?? '')
    response.writeHead(302, { location: 'http://elsewhere.example/' }).end()
  }
  const outcome = await run(t, { page, site: { url: 'http://shop.example:PORT/' } })
  assert.deepEqual([outcome.status, reason(outcome)], ['error', 'redirected'])
  assert.match(outcome.message, /elsewhere\.example/)
  assert.equal(hosts.length, 1)
})

test('cmp_check: a redirect to something that is not a web page is critical: no visitor gets to the page', async (t) => {
  const page: Handler = (_, response) => response.writeHead(302, { location: 'javascript:void(0)' }).end()
  const { status, message } = await run(t, { page })
  assert.deepEqual(
    [status, message],
    ['critical', 'The page cannot be read: it redirects to something that is not a web page'],
  )
})

const BAD_STATUS: readonly [status: number, expected: string, why: string][] = [
  [404, 'critical', 'bad_status'],
  [500, 'critical', 'bad_status'],
  [503, 'critical', 'bad_status'],
  [401, 'error', 'blocked'],
  [403, 'error', 'blocked'],
  [429, 'error', 'blocked'],
]
for (const [status, expected, why] of BAD_STATUS) {
  test(`cmp_check: a page that answers ${status} is ${expected}`, async (t) => {
    const outcome = await run(t, { page: (_, response) => response.writeHead(status).end('<h1>no</h1>') })
    assert.deepEqual([outcome.status, reason(outcome)], [expected, why])
    assert.match(outcome.message, new RegExp(`it answers ${status}$`))
  })
}

test('cmp_check: a page where nothing answers is critical, and may be tried again', async (t) => {
  const outcome = await run(t, { page: '', site: { url: `${await deadAddress()}/` } })
  assert.deepEqual([outcome.status, reason(outcome), outcome.isNetworkFailure], ['critical', 'unreachable', true])
})

test('cmp_check: a name that leads nowhere is critical', async (t) => {
  const outcome = await run(t, { page: '', site: { url: 'http://gone.example/' } })
  assert.deepEqual([outcome.status, outcome.details.failure], ['critical', 'dns'])
})

test('cmp_check: a page that does not answer in time is critical', async (t) => {
  const { port } = await tcpServer(t, () => undefined)
  const outcome = await run(t, { page: '', site: { url: `http://127.0.0.1:${port}/` }, timeoutMs: 300 })
  assert.deepEqual([outcome.status, outcome.details.failure], ['critical', 'timeout'])
  assert.match(outcome.message, / took longer than 180 ms in all \(60 % of the probe's 0\.3 s\)$/)
})

test('cmp_check: an address that must not be asked is an error', async (t) => {
  const outcome = await run(t, { page: '', site: { url: 'http://10.0.0.1/' } })
  assert.deepEqual([outcome.status, outcome.details.failure], ['error', 'forbidden_address'])
})

test('cmp_check: a page that waits here while others are read has not failed', async (t) => {
  const { port } = await httpServer(t, ({ url }, response) => {
    response.write('x'.repeat(100_000))
    if (url === '/large') response.end()
  })
  const bodiesBytes = 200_000
  const allow = parseOutboundAllow('127.0.0.0/8')
  const outbound = createOutbound({ allow, userAgent: 'test', clock: systemClock, bodiesBytes })
  const over = new AbortController()
  const ask = (path: string, totalMs: number) =>
    outbound.request(`http://127.0.0.1:${port}${path}`, {
      limits: { totalMs, bodyBytes: bodiesBytes },
      signal: over.signal,
    })
  const endless = ask('/endless', 60_000)
  await until('there is no room', () =>
    ask('/large', 300).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof OutboundError && thrown.kind === 'interrupted' ? true : undefined),
    ),
  )
  const page = pageWith(CONSENT_DEFAULT, COOKIEBOT, '<p>more</p>'.repeat(10_000))
  const outcome = await run(t, { page, timeoutMs: 5_000, outbound })
  over.abort()
  await assert.rejects(endless)
  assert.equal(outcome.status, 'error', outcome.message)
  assert.match(
    outcome.message,
    /^The page cannot be read: this server had no room for the answer of 127\.0\.0\.1 within 3 s/,
  )
  assert.equal(outcome.isNetworkFailure, true)
})

test('cmp_check: a page that redirects to itself until it gets its cookie back is read as in a browser', async (t) => {
  const sent: (string | undefined)[] = []
  const page: Handler = (request, response) => {
    sent.push(request.headers.cookie)
    if (request.headers.cookie === 'seen=1; lang=de%2CDE') response.end(FINE)
    else {
      response.setHeader('set-cookie', [
        'seen=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/; HttpOnly',
        'lang=de%2CDE',
        'old=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      ])
      response.writeHead(302, { location: '/' }).end()
    }
  }
  const outcome = await run(t, { page })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.deepEqual(sent, [undefined, 'seen=1; lang=de%2CDE'])
})

test('cmp_check: a cookie of one host is not sent to another', async (t) => {
  const sent: (string | undefined)[] = []
  const page: Handler = (request, response) => {
    const host = request.headers.host ?? ''
    sent.push(request.headers.cookie)
    if (host.startsWith('www.')) response.end(FINE)
    else response.writeHead(301, { location: `http://www.${host}/`, 'set-cookie': 'seen=1' }).end()
  }
  const outcome = await run(t, { page, site: { url: 'http://shop.example:PORT/' } })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.deepEqual(sent, [undefined, undefined])
})

test("cmp_check: a cookie of the site's domain is sent to all of its hosts, and to no other", async (t) => {
  const sent: (string | undefined)[] = []
  const page: Handler = (request, response) => {
    const host = request.headers.host ?? ''
    sent.push(request.headers.cookie)
    const cookies = ['seen=1; Domain=.Shop.example; Path=/', 'not=mine; Domain=elsewhere.example']
    if (!host.startsWith('www.')) {
      response.writeHead(302, { location: `http://www.${host}/`, 'set-cookie': cookies }).end()
    } else if (request.headers.cookie === 'seen=1') response.end(FINE)
    else response.writeHead(302, { location: `http://${host.slice(4)}/` }).end()
  }
  const outcome = await run(t, { page, site: { url: 'http://shop.example:PORT/' } })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.deepEqual(sent, [undefined, 'seen=1'])
})

test('cmp_check: a page that redirects in circles is critical', async (t) => {
  const outcome = await run(t, { page: (_, response) => response.writeHead(302, { location: '/' }).end() })
  assert.deepEqual([outcome.status, outcome.details.failure], ['critical', 'too_many_redirects'])
})

for (const [name, status, headers, body] of CHALLENGES) {
  test(`cmp_check: a challenge of ${name} (${status}) is an error, not a page without a platform`, async (t) => {
    const outcome = await run(t, { page: (_, response) => response.writeHead(status, headers).end(body) })
    assert.deepEqual([outcome.status, reason(outcome), outcome.details.by], ['error', 'challenge', name])
  })
}

for (const [name, script] of ADDED_BY_PROTECTIONS) {
  test(`cmp_check: what ${name} adds to real pages is no challenge`, async (t) => {
    const html = pageWith(CONSENT_DEFAULT, COOKIEBOT, CONTAINER_SNIPPET, script)
    const outcome = await run(t, { page: (_, response) => response.setHeader('x-datadome', 'protected').end(html) })
    assert.equal(outcome.status, 'ok', outcome.message)
  })
}

test('cmp_check: no platform at all is critical', async (t) => {
  const outcome = await run(t, { page: pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET) })
  assert.equal(outcome.status, 'critical')
  assert.match(
    outcome.message,
    /^Cookiebot is not there: neither the page, titled “.+”, nor its web container loads any/,
  )
  assert.deepEqual(outcome.details.found, [])
})

test('cmp_check: another platform than the site says is a warning that names it and the page', async (t) => {
  const outcome = await run(t, { page: pageWith(CONSENT_DEFAULT, KLARO, CONTAINER_SNIPPET) })
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /^Cookiebot is not there, but Klaro is \(in the page: .+\); the page is titled “.+”/)
})

test('cmp_check: two platforms at once are a warning, but not one that comes with ads', async (t) => {
  const [FUNDING = ''] = SNIPPETS['google-funding-choices'] ?? []
  const two = await run(t, { page: pageWith(CONSENT_DEFAULT, COOKIEBOT, KLARO, CONTAINER_SNIPPET) })
  assert.equal(two.status, 'warning')
  assert.match(two.message, /^Klaro is present in addition to Cookiebot .*: visitors may be asked twice$/)
  assert.equal((await run(t, { page: pageWith(CONSENT_DEFAULT, COOKIEBOT, FUNDING, CONTAINER_SNIPPET) })).status, 'ok')
})

const STUB = `<script>(function(){var TCF_LOCATOR_NAME='__tcfapiLocator';function addFrame(){var i=document.createElement('iframe');i.name=TCF_LOCATOR_NAME}
addFrame();window.__tcfapi=function(){}})()</script>`
test('cmp_check: a platform of the IAB framework that no table knows is a warning', async (t) => {
  const outcome = await run(t, { page: pageWith(CONSENT_DEFAULT, STUB, CONTAINER_SNIPPET) })
  assert.deepEqual([outcome.status, outcome.details.iab_stub], ['warning', true])
  assert.match(outcome.message, /some other consent platform of the IAB framework is$/)
})

test('cmp_check: a stub of the Global Privacy Platform alone shows a platform, too', async (t) => {
  const stub = STUB.replaceAll('__tcfapi', '__gpp')
  const outcome = await run(t, { page: pageWith(CONSENT_DEFAULT, stub, CONTAINER_SNIPPET) })
  assert.deepEqual([outcome.status, outcome.details.iab_stub], ['warning', true])
})

test('cmp_check: a script that asks for the framework makes no platform', async (t) => {
  const asks = `<script>if (typeof window.__tcfapi === 'function' && window.__tcfapi != null) window.__tcfapi('addEventListener', 2, run)</script>`
  const outcome = await run(t, { page: pageWith(CONSENT_DEFAULT, asks, CONTAINER_SNIPPET) })
  assert.deepEqual([outcome.status, outcome.details.iab_stub], ['critical', false])
})

test('cmp_check: a script from the domain that the IAB has given up is a warning', async (t) => {
  const old = '<script src="https://quantcast.mgr.consensu.org/choice/6Fv0cGNfc/shop.example/choice.js"></script>'
  const outcome = await run(t, {
    page: pageWith(CONSENT_DEFAULT, old, CONTAINER_SNIPPET),
    site: { cmp_provider: 'Quantcast' },
  })
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /the installation is outdated$/)
})

test('cmp_check: without a provider in the site, any platform will do', async (t) => {
  const site = { cmp_provider: null }
  assert.equal((await run(t, { page: FINE, site })).status, 'ok')
  assert.equal((await run(t, { page: pageWith(CONSENT_DEFAULT, STUB, CONTAINER_SNIPPET), site })).status, 'ok')
  const none = await run(t, { page: pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET), site })
  assert.equal(none.status, 'critical')
  assert.match(none.message, /^a consent platform is not there/)
})

test('cmp_check: a platform that no table knows needs a part of its address', async (t) => {
  const site = { cmp_provider: 'Our own banner' }
  const page = pageWith(CONSENT_DEFAULT, '<script src="/static/consent/v3.js"></script>', CONTAINER_SNIPPET)
  const unknown = await run(t, { page, site })
  assert.deepEqual([unknown.status, reason(unknown)], ['error', 'unknown_provider'])
  assert.match(unknown.message, /“Our own banner”.*cookiebot.*own_address/)
  const own = (own_address: string) => run(t, { page, site, config: { own_address, check_script: false } })
  assert.equal((await own('/static/consent/')).status, 'ok')
  assert.equal((await own('/static/gone/')).status, 'critical')
})

test("cmp_check: the script that own_address finds has to answer, as a provider's own", async (t) => {
  for (const [status, expected] of [
    [200, 'ok'],
    [404, 'critical'],
  ] as const) {
    const page: Handler = ({ url }, response) =>
      url === '/'
        ? response.end(pageWith(CONSENT_DEFAULT, '<script src="/proxied/uc.js"></script>', CONTAINER_SNIPPET))
        : response.writeHead(status).end('var CookieConsent={}')
    const outcome = await run(t, { page, config: { own_address: '/proxied/uc.js' } })
    assert.equal(outcome.status, expected, outcome.message)
    if (status === 404)
      assert.match(outcome.message, /^The script of Cookiebot at 127\.0\.0\.1:\d+ fails: it answers 404$/)
  }
})

test('cmp_check: a platform found by own_address may set the consent defaults, unless it is known not to', async (t) => {
  const page = pageWith('<script src="/static/consent/v3.js"></script>', CONTAINER_SNIPPET)
  for (const [cmp_provider, state] of [
    ['Our own banner', 'set_elsewhere'],
    ['cookiebot', 'set_elsewhere'],
    ['klaro', 'missing'],
  ] as const) {
    const config = { check_script: false, own_address: '/static/consent/' }
    const outcome = await run(t, { page, site: { cmp_provider }, config })
    assert.deepEqual([cmp_provider, stateOf(outcome)], [cmp_provider, state])
    assert.equal(outcome.status, state === 'missing' ? 'warning' : 'ok', outcome.message)
  }
})

test('cmp_check: a web container that cannot be read leaves open whether it loads the platform', async (t) => {
  const page = pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET)
  const gtm: Handler = (_, response) => response.writeHead(503).end()
  const outcome = await run(t, { page, gtm, site: { tag_manager_web_container_id: 'GTM-ABC1234' } })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /the web container that may load it could not be read: it answers 503$/)
  assert.deepEqual(outcome.details.containers, [{ id: 'GTM-ABC1234', status: 503, why: 'it answers 503' }])
  assert.equal((await run(t, { page: FINE, gtm })).status, 'ok')
})

test('cmp_check: a web container that a page loads by its address, without the snippet, is read', async (t) => {
  const gtm = containerScript('https://consent.cookiebot.com/uc.js')
  const page = pageWith('<script async src="https://www.googletagmanager.com/gtm.js?id=GTM-ABC1234"></script>')
  const outcome = await run(t, { page, gtm })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.equal((outcome.details.containers as { id: string }[])[0]?.id, 'GTM-ABC1234')
})

test('cmp_check: the link to the settings that stays when the platform is gone is a warning, and no platform beside another', async (t) => {
  const link = '<button id="ot-sdk-btn" class="ot-sdk-show-settings">Cookie settings</button>'
  const page = pageWith(CONSENT_DEFAULT, link, CONTAINER_SNIPPET)
  for (const cmp_provider of ['onetrust', null]) {
    const { status, message } = await run(t, { page, site: { cmp_provider } })
    assert.equal(status, 'warning', message)
    assert.match(message, /^OneTrust may be gone: the page, titled “.+”, still has #ot-sdk-btn, but neither it nor its/)
  }
  const gtm = containerScript('https://cdn.cookielaw.org/scripttemplates/otSDKStub.js')
  assert.equal((await run(t, { page, gtm, site: { cmp_provider: 'onetrust' } })).status, 'ok')
  assert.equal((await run(t, { page })).status, 'critical')
  const other = await run(t, { page: pageWith(CONSENT_DEFAULT, link, COOKIEBOT, CONTAINER_SNIPPET), gtm })
  assert.equal(other.status, 'ok', other.message)
})

test('cmp_check: a platform whose script is blocked in the page is not there', async (t) => {
  const page = pageWith(CONSENT_DEFAULT, COOKIEBOT.replace('text/javascript', 'text/plain'), CONTAINER_SNIPPET)
  const outcome = await run(t, { page })
  assert.deepEqual([outcome.status, outcome.details.found], ['critical', []], outcome.message)
})

test('cmp_check: of a page that starts another container than the site names, that one counts', async (t) => {
  const site = { tag_manager_web_container_id: 'GTM-ZZZ9999' }
  const page = pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET)
  const only =
    (id: string): Handler =>
    ({ url }, response) =>
      response.end(containerScript(url?.endsWith(id) ? 'https://consent.cookiebot.com/uc.js' : ''))
  const gone = await run(t, { page, gtm: containerScript(''), site })
  assert.equal(gone.status, 'critical', gone.message)
  assert.match(gone.message, /nor its web container GTM-ABC1234, which is not the site's GTM-ZZZ9999, loads any/)
  // A loader that hides the id may start the site's container as well.
  const hidden = await run(t, { page, gtm: only('GTM-ZZZ9999'), site })
  assert.equal(hidden.status, 'warning', hidden.message)
  assert.match(
    hidden.message,
    /^Cookiebot is only in the site's container GTM-ZZZ9999, but the page, titled “.+”, starts GTM-ABC1234: /,
  )
  assert.equal((await run(t, { page, gtm: only('GTM-ABC1234'), site })).status, 'ok')
  // One of several is the site's, or the page loads it in a way that cannot be seen.
  for (const more of [CONTAINER_SNIPPET.replace('GTM-ABC1234', 'GTM-ZZZ9999'), null]) {
    const both = more === null ? pageWith(CONSENT_DEFAULT, '<script src="/app.js"></script>') : pageWith(page, more)
    assert.equal((await run(t, { page: both, gtm: only('GTM-ZZZ9999'), site })).status, 'ok')
  }
})

test('cmp_check: of several containers that a page starts, any may load the platform', async (t) => {
  const page = pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET, CONTAINER_SNIPPET.replace('GTM-ABC1234', 'GTM-DEF5678'))
  const gtm: Handler = ({ url }, response) =>
    response.end(containerScript(url?.endsWith('GTM-DEF5678') ? 'https://consent.cookiebot.com/uc.js' : ''))
  for (const tag_manager_web_container_id of [null, 'GTM-ABC1234', 'GTM-DEF5678', 'GTM-ZZZ9999']) {
    const outcome = await run(t, { page, gtm, site: { tag_manager_web_container_id } })
    assert.equal(outcome.status, 'ok', outcome.message)
  }
  const gone = await run(t, { page, gtm: containerScript(''), site: { tag_manager_web_container_id: 'GTM-ABC1234' } })
  assert.equal(gone.status, 'critical', gone.message)
})

test('cmp_check: what is left of Google Optimize starts no web container', async (t) => {
  const optimize = '<script src="https://www.googleoptimize.com/optimize.js?id=GTM-OLD1234"></script>'
  const page = pageWith(CONSENT_DEFAULT, optimize, '<script src="/app.js"></script>')
  const gtm: Handler = ({ url }, response) => {
    if (url?.endsWith('GTM-ZZZ9999')) response.end(containerScript('https://consent.cookiebot.com/uc.js'))
    else response.writeHead(404).end()
  }
  const outcome = await run(t, { page, gtm, site: { tag_manager_web_container_id: 'GTM-ZZZ9999' } })
  assert.equal(outcome.status, 'ok', outcome.message)
})

test('cmp_check: a page that runs nothing does not load the web container that has the platform', async (t) => {
  const gtm = containerScript('https://consent.cookiebot.com/uc.js')
  const site = { tag_manager_web_container_id: 'GTM-ZZZ9999' }
  const away =
    '<!doctype html><title>Back soon</title><p>We are at work</p><script type="application/ld+json">{}</script><noscript><iframe src="/ns.html"></iframe></noscript>'
  const outcome = await run(t, { page: away, gtm, site })
  assert.equal(outcome.status, 'critical', outcome.message)
  assert.equal(
    outcome.message,
    'Cookiebot is not there: the page, titled “Back soon”, runs no script at all, so it loads no web container either',
  )
  const bundled = '<!doctype html><title>Shop</title><script src="/bundle.js"></script>'
  assert.equal((await run(t, { page: bundled, gtm, site })).status, 'ok')
  const later = '<!doctype html><title>Shop</title><script type="lazy/script" src="/bundle.js"></script>'
  assert.equal((await run(t, { page: later, gtm, site })).status, 'ok')
  const framed = '<!doctype html><title>Shop</title><iframe src="/shop"></iframe>'
  assert.equal((await run(t, { page: framed, gtm, site })).status, 'ok')
})

const FORWARDS: readonly [content: string, to: string | null][] = [
  ['0; url=/en/', '127.0.0.1:PORT/en/'],
  ["0;URL='https://elsewhere.example/de?a=b'", 'elsewhere.example/de'],
  ['2,/shop', '127.0.0.1:PORT/shop'],
  // These come back to the same page, or leave it to be read.
  ['60', null],
  ['0; url=/', null],
  ['300; url=/next', null],
  ['soon; url=/next', null],
]
for (const [content, to] of FORWARDS) {
  test(`cmp_check: a page that only refreshes by “${content}” is ${to === null ? 'critical' : 'not the one to check'}`, async (t) => {
    const page = `<!doctype html><title>Welcome</title><meta http-equiv="Refresh" content="${content}"><noscript><meta http-equiv="refresh" content="0;url=/x"></noscript>`
    const outcome = await run(t, { page })
    assert.equal(outcome.status, to === null ? 'critical' : 'error', outcome.message)
    const says = 'Cookiebot is not in the page, which sends visitors on to '
    if (to !== null)
      assert.ok(outcome.message.replace(/:\d{4,5}\//, ':PORT/').startsWith(`${says}${to}: set the site's address to `))
    assert.equal((await run(t, { page: page + COOKIEBOT })).status, 'ok')
  })
}

const SCRIPTED: readonly [code: string, to: string | null][] = [
  ["location.replace('/en/')", '127.0.0.1:PORT/en/'],
  ['window.location.href = "https://elsewhere.example/de"', 'elsewhere.example/de'],
  ['if (top) document.location = `/shop`', '127.0.0.1:PORT/shop'],
  ["location.assign(lang + '/shop')", null],
  ["location.href = '/en/' + location.search", null],
  // This one sets a cookie for the page itself.
  ["document.cookie = 'a=1'; location.href = '/'", null],
]
for (const [code, to] of SCRIPTED) {
  test(`cmp_check: a page that is only “${code}” is not the one to check`, async (t) => {
    const page = `<!doctype html><title>Welcome</title><style>p { color: red }</style><p>Redirecting …</p><script>${code}</script>`
    const outcome = await run(t, { page })
    assert.equal(outcome.status, 'error', outcome.message)
    const on = to === null ? 'on by a script' : `on to ${to}`
    const says = `Cookiebot is not in the page, which sends visitors ${on}: set the site's address to `
    assert.ok(outcome.message.replace(/:\d{4,5}\//, ':PORT/').startsWith(says), outcome.message)
    assert.equal((await run(t, { page: page + COOKIEBOT })).status, 'ok')
  })
}

const STAYING: readonly [what: string, page: string][] = [
  ['has text', `<p>${'word '.repeat(50)}</p><script>function buy() { location.href = '/cart' }</script>`],
  ['loads scripts', '<script src="/app.js"></script><script>if (isOld) location.href = "/old"</script>'],
  [
    'compares its address',
    "<script>if (location.href == '/a' || location === b) start(x => location.replace)</script>",
  ],
  [
    'has a location of its own',
    "<script>const location = 'Berlin'; shop.location = 'Bonn'; a = 'location'.replace('x')</script>",
  ],
]
for (const [what, page] of STAYING) {
  test(`cmp_check: a page that ${what} is checked`, async (t) => {
    const outcome = await run(t, { page: `<!doctype html><title>Shop</title>${page}` })
    assert.equal(outcome.status, 'critical', outcome.message)
  })
}

test('cmp_check: a page that names its charset itself is read in it, unless its server names another', async (t) => {
  const named = (type: string) => (_: IncomingMessage, response: ServerResponse) =>
    response
      .setHeader('content-type', type)
      .end(Buffer.concat([Buffer.from('<meta charset="windows-1251"><title>'), Buffer.from([0xcc, 0xe0, 0xe3]), TAIL]))
  const TAIL = Buffer.from('</title><script src="/app.js"></script>')
  assert.match((await run(t, { page: named('text/html') })).message, /titled “Маг”/)
  assert.match((await run(t, { page: named('text/html; charset=iso-8859-1') })).message, /titled “Ìàã”/)
})

test('cmp_check: a step on the way does not load the container of the site, which has the platform', async (t) => {
  const gtm = containerScript('https://consent.cookiebot.com/uc.js')
  const site = { tag_manager_web_container_id: 'GTM-ZZZ9999' }
  for (const on of [
    '<script src="/step.js"></script><meta http-equiv="refresh" content="0; url=/next">',
    '<script>location.replace("/next")</script>',
  ]) {
    const outcome = await run(t, { page: `<!doctype html><title>One moment</title>${on}`, gtm, site })
    assert.equal(outcome.status, 'error', outcome.message)
    assert.match(outcome.message, /which sends visitors on to 127\.0\.0\.1:\d+\/next: set the site's address/)
    const whole = `<!doctype html>${CONSENT_DEFAULT}${CONTAINER_SNIPPET}${on}`
    assert.equal((await run(t, { page: whole, gtm, site })).status, 'ok')
  }
})

test('cmp_check: a page without a platform is named by its title, in one line', async (t) => {
  const outcome = await run(t, { page: `<!doctype html><title>\n Log in \u202e </title><script src="/a.js"></script>` })
  assert.equal(outcome.status, 'critical')
  assert.match(
    outcome.message,
    /^Cookiebot is not there: neither the page, titled “Log in”, nor its web container loads any/,
  )
})

test('cmp_check: of a page that is longer than what is read, nothing is said to be missing', async (t) => {
  const long = pageWith(CONSENT_DEFAULT, CONTAINER_SNIPPET, '<p>more</p>'.repeat(200_000), COOKIEBOT)
  const outcome = await run(t, { page: long })
  assert.equal(outcome.status, 'error', outcome.message)
  assert.match(
    outcome.message,
    /^Cookiebot is not in the part of the page that is read, its first 2 MB and 2,000 scripts/,
  )
})

/** Cookiebot's script under its name at the local server. */
const LOCAL_COOKIEBOT = (port: string) =>
  `<script id="Cookiebot" src="http://consent.cookiebot.com:${port}/uc.js"></script>`
const withScript =
  (script: Handler): Handler =>
  (request, response) => {
    if (request.url === '/uc.js') return script(request, response)
    const port = request.headers.host?.split(':')[1] ?? ''
    response.end(pageWith(CONSENT_DEFAULT, LOCAL_COOKIEBOT(port), CONTAINER_SNIPPET))
  }

test("cmp_check: the provider's script is asked for as the page would, and has to answer", async (t) => {
  let referer: string | undefined
  const fine = await run(t, {
    page: withScript((request, response) => {
      referer = request.headers.referer
      response.end('var CookieConsent={}')
    }),
    config: {},
  })
  assert.equal(fine.status, 'ok', fine.message)
  assert.match(referer ?? '', /^http:\/\/127\.0\.0\.1:\d+\/$/)
  assert.deepEqual((fine.details.scripts as { status: number }[])[0]?.status, 200)
  for (const status of [403, 404, 500]) {
    const failing = await run(t, { page: withScript((_, response) => response.writeHead(status).end()), config: {} })
    assert.equal(failing.status, 'critical')
    assert.match(
      failing.message,
      new RegExp(`^The script of Cookiebot at consent\\.cookiebot\\.com:\\d+ fails: it answers ${status}$`),
    )
  }
  const silent = await run(t, { page: withScript(() => undefined), config: {}, timeoutMs: 1_000 })
  assert.equal(silent.status, 'critical')
})

test("cmp_check: a provider's script that the site serves itself is known by its id, and has to answer", async (t) => {
  const head = pageWith(CONSENT_DEFAULT, '<script id="Cookiebot" src="/own/uc.js"></script>', CONTAINER_SNIPPET)
  const { status, message } = await run(t, {
    page: ({ url }, response) => (url === '/' ? response.end(head) : response.writeHead(404).end()),
    config: {},
  })
  assert.equal(status, 'critical', message)
  assert.match(message, /^The script of Cookiebot at 127\.0\.0\.1:\d+ fails: it answers 404$/)
})

test('cmp_check: an address in which a script still puts something is not requested', async (t) => {
  const loader = (host: string) => `<script>s.src = \`http://${host}/sites/\${id}/uc.js\`</script>`
  const outcome = await run(t, {
    page: ({ url, headers }, response) =>
      url === '/'
        ? response.end(pageWith(CONSENT_DEFAULT, loader(`consent.cookiebot.com:${headers.host?.split(':')[1]}`)))
        : response.writeHead(404).end(),
    config: {},
  })
  assert.deepEqual([outcome.status, outcome.details.scripts], ['ok', []], outcome.message)
})

test("cmp_check: a page in place of the provider's script is critical, as it runs nothing", async (t) => {
  const { status, message } = await run(t, {
    page: withScript((_, response) => response.end('\n<!DOCTYPE html><title>Shop</title>')),
    config: {},
  })
  assert.equal(status, 'critical')
  assert.match(message, /^The script of Cookiebot at .+ fails: it answers with a web page instead of a script$/)
})

test("cmp_check: a bot protection that answers instead of the provider's script says nothing about visitors", async (t) => {
  for (const [vendor, status, headers, body] of CHALLENGES) {
    const outcome = await run(t, {
      page: withScript((_, response) => response.writeHead(status, headers).end(body)),
      config: {},
    })
    assert.equal(outcome.status, 'error')
    assert.match(
      outcome.message,
      new RegExp(`^The script of Cookiebot at .+ was not judged: ${vendor} blocks the check as a bot$`),
    )
  }
})

test("cmp_check: a provider's script that could not be asked to the end is not fine, and not failing either", async (t) => {
  for (const [kind, why] of [
    ['aborted', 'it did not answer before the check timed out'],
    ['forbidden_address', 'it leads inside'],
  ] as const) {
    const toAll = testOutbound('127.0.0.0/8')
    const outbound: Outbound = {
      ...toAll,
      fetchBytes: (url, request) =>
        url.includes('cookiebot') ? Promise.reject(new OutboundError(kind, why)) : toAll.fetchBytes(url, request),
    }
    const { status, message } = await run(t, { page: FINE, config: {}, outbound })
    assert.equal(status, 'error')
    assert.equal(message, `The script of Cookiebot at consent.cookiebot.com was not judged: ${why}`)
  }
})

test('cmp_check: a provider whose script we ask for too often has not failed', async (t) => {
  const { status, message } = await run(t, {
    page: withScript((_, response) => response.writeHead(429, { 'retry-after': '60' }).end()),
    config: {},
  })
  assert.equal(status, 'error')
  assert.match(message, /fails: it answers 429, which means too many requests$/)
})

const CONSENT: readonly [what: string, head: string[], status: string, state: string][] = [
  ['after the container snippet is late', [KLARO, CONTAINER_SNIPPET, CONSENT_DEFAULT], 'warning', 'late'],
  ['that is nowhere is missing', [KLARO, CONTAINER_SNIPPET], 'warning', 'missing'],
  [
    'of the first version is incomplete',
    [
      KLARO,
      `<script>gtag("consent","default",{ad_storage:"denied",analytics_storage:"denied"})</script>`,
      CONTAINER_SNIPPET,
    ],
    'warning',
    'incomplete',
  ],
  [
    'whose keys are computed is taken as it is',
    [KLARO, `<script>gtag('consent', 'default', Object.assign({}, stored))</script>`, CONTAINER_SNIPPET],
    'ok',
    'set',
  ],
  [
    'in parts is added up',
    [
      KLARO,
      `<script>gtag('consent','default',{ad_storage:'denied',analytics_storage:'denied',region:['US-CA']});
      gtag('consent','default',{ad_user_data:'granted',ad_personalization:'granted'})</script>`,
      CONTAINER_SNIPPET,
    ],
    'ok',
    'set',
  ],
  [
    'through a wrapper counts',
    [
      KLARO,
      `<script>(function(){dataLayer.push(arguments)})('consent','default',{ad_storage:'denied',analytics_storage:'denied',ad_user_data:'denied',ad_personalization:'denied'})</script>`,
      CONTAINER_SNIPPET,
    ],
    'ok',
    'set',
  ],
  ['that the provider can set need not be in the page', [COOKIEBOT, CONTAINER_SNIPPET], 'ok', 'set_elsewhere'],
  ['is not needed where nothing measures', [KLARO], 'ok', 'no_measurement'],
  [
    'in a script that waits for consent is missing',
    [KLARO, CONSENT_DEFAULT.replace('<script>', '<script type="text/plain">'), CONTAINER_SNIPPET],
    'warning',
    'missing',
  ],
  [
    'in a comment of the page is missing',
    [KLARO, `<!-- ${CONSENT_DEFAULT} -->`, CONTAINER_SNIPPET],
    'warning',
    'missing',
  ],
  [
    'in a comment of a script is missing',
    [
      KLARO,
      `<script>// gtag('consent','default',{ad_storage:'denied'})\n/* gtag('consent','default',{}) */</script>`,
      CONTAINER_SNIPPET,
    ],
    'warning',
    'missing',
  ],
  [
    'in a text may be code that is run later',
    [
      KLARO,
      `<script>self.__next_s.push([0,{"children":"gtag('consent', 'default', {ad_storage:'denied'})"}])</script>`,
      CONTAINER_SNIPPET,
    ],
    'ok',
    'set_elsewhere',
  ],
  [
    'before the commands of an asynchronous Google tag is in time',
    [
      KLARO,
      '<script async src="https://www.googletagmanager.com/gtag/js?id=G-ABC1234567"></script>',
      CONSENT_DEFAULT,
      `<script>gtag('js', new Date()); gtag('config', 'G-ABC1234567')</script>`,
    ],
    'ok',
    'set',
  ],
  [
    'after the commands of a Google tag is late',
    [
      KLARO,
      '<script async src="https://www.googletagmanager.com/gtag/js?id=G-ABC1234567"></script>',
      `<script>gtag('js', new Date()); gtag('config', 'G-ABC1234567')</script>`,
      CONSENT_DEFAULT,
    ],
    'warning',
    'late',
  ],
  [
    'after a container that an own server serves is late',
    [KLARO, '<script async src="https://sst.shop.example/gtm.js?id=GTM-ABC1234"></script>', CONSENT_DEFAULT],
    'warning',
    'late',
  ],
]
for (const [what, head, status, state] of CONSENT) {
  test(`cmp_check: a consent default ${what}`, async (t) => {
    const site = { cmp_provider: head.includes(COOKIEBOT) ? 'cookiebot' : 'klaro' }
    const outcome = await run(t, { page: pageWith(...head), site })
    assert.deepEqual([outcome.status, stateOf(outcome)], [status, state], outcome.message)
    const unchecked = await run(t, {
      page: pageWith(...head),
      site,
      config: { check_script: false, check_consent_mode: false },
    })
    assert.deepEqual([unchecked.status, stateOf(unchecked)], ['ok', 'not_checked'])
  })
}

const IN_CONTAINER = {
  'a template': containerScript(
    '{"function":"__cvt_1_2"}',
    '[50,"__cvt_1_2",[46,"a"],[52,"b",["require","setDefaultConsentState"]]]',
  ),
  'an HTML tag': containerScript(
    String.raw`{"function":"__html","vtp_html":"\u003Cscript\u003Egtag(\"consent\",\"default\",{ad_storage:\"denied\"});\u003C\/script\u003E"}`,
  ),
}
for (const [what, gtm] of Object.entries(IN_CONTAINER)) {
  test(`cmp_check: a consent default that ${what} of the container sets is no failure`, async (t) => {
    const outcome = await run(t, { page: pageWith(KLARO, CONTAINER_SNIPPET), gtm, site: { cmp_provider: 'klaro' } })
    assert.deepEqual([outcome.status, stateOf(outcome)], ['ok', 'set_elsewhere'], outcome.message)
  })
}

test('cmp_check: what is missing is named, with how far too late it comes', async (t) => {
  const site = { cmp_provider: 'klaro' }
  const old = `<script>gtag("consent","default",{ad_storage:"denied",analytics_storage:"denied"})</script>`
  const outcome = await run(t, { page: pageWith(KLARO, CONTAINER_SNIPPET, old), site })
  const messages = (outcome.details.findings as { message: string }[]).map(({ message }) => message)
  assert.match(
    messages[0] ?? '',
    /^The consent default is set after the container snippet, \d+ characters further down/,
  )
  assert.equal(messages[1], 'The consent default leaves out ad_user_data and ad_personalization')
  assert.match(outcome.message, / \(and 1 more\)$/)
})

test('cmp_check: details say since when it is so', async (t) => {
  const first = await run(t, { page: FINE })
  assert.equal(first.details.since, new Date(NOW).toISOString())
  const memory = { standing: { status: 'ok', since: NOW - 1_000 } }
  assert.equal((await run(t, { page: FINE, memory })).details.since, new Date(NOW - 1_000).toISOString())
})

const REPEATS = 400_000
const HOSTILE: readonly [what: string, page: string][] = [
  ['of open angle brackets', '<'.repeat(3 * REPEATS)],
  ['of tags that are never closed', '<b>'.repeat(REPEATS) + '</i>'.repeat(REPEATS)],
  ['of comments that are never closed', '<!--'.repeat(REPEATS)],
  ['of one tag with countless attributes', `<a ${'b=c '.repeat(REPEATS)}>`],
  ['of a script that is never closed', `<script>${'a='.repeat(REPEATS)}`],
  ['of scripts within scripts', '<script><!--<script>'.repeat(100_000)],
  ['of quotes', `<script>${`'"`.repeat(REPEATS)}</script>`],
  ['of templates within templates', `<script>${'`${'.repeat(REPEATS)}</script>`],
  ['of slashes that might begin something', `<script>${'=/['.repeat(REPEATS)}</script>`],
  ['of calls that are never closed', `<script>${"gtag('consent','default',{".repeat(60_000)}</script>`],
  ['of one very long name', `<script>${'a'.repeat(4 * REPEATS)}</script>`],
  ['of one very long text', `<script>"${'\\'.repeat(4 * REPEATS)}"</script>`],
  ['of addresses without an end', `<script>"${'//a.'.repeat(REPEATS)}"</script>`],
  ['of spaces', `<script>${' '.repeat(4 * REPEATS)}x</script>`],
]
for (const [what, page] of HOSTILE) {
  test(`cmp_check: a page ${what} is judged like any other`, async (t) => {
    // As long as a busy machine may need.
    const outcome = await run(t, { page, timeoutMs: 60_000 })
    const isCut = page.length > 2 * 1_024 * 1_024
    assert.equal(outcome.status, isCut ? 'error' : 'critical', outcome.message)
    assert.ok(JSON.stringify(outcome.details).length < 16_000)
  })
}

test('cmp_check: of a page that does not end, the first 2 MB are looked at', async (t) => {
  const endless =
    (head: string): Handler =>
    (request, response) => {
      response.write(head)
      const go = () => {
        while (!response.destroyed && response.write('<p>more</p>'.repeat(5_000)));
      }
      response.on('drain', go)
      request.on('close', () => response.off('drain', go))
      go()
    }
  const outcome = await run(t, { page: endless(FINE) })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.equal((outcome.details.page as { is_cut_off: boolean }).is_cut_off, true)
})

test('cmp_check: a page full of hostile names leaves details of a bearable size', async (t) => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `key${index}:'${'v'.repeat(20)}'`).join(',')
  const snippets = Object.values(SNIPPETS).flat().join('\n')
  const page = pageWith(
    `<script>gtag('consent','default',{${keys},__proto__:'x',constructor:'y'})</script>`,
    snippets,
    CONTAINER_SNIPPET,
  )
  const { details } = await run(t, { page })
  assert.ok(JSON.stringify(details).length < 16_000)
})
