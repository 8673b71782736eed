import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import type { DiagnosticsAnswer, RecentAnswer } from '../../src/analytics/index.ts'
import { newSecret } from '../../src/lib/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const BODY = JSON.stringify(eventPayload({ timestamp_ms: NOW }))

interface Sent {
  path?: string
  method?: string
  headers?: Record<string, string>
}

async function send({ url }: TestService, { path = '/ingest', method = 'POST', headers = {} }: Sent): Promise<number> {
  const body = method === 'POST' ? { body: BODY } : {}
  const answer = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...body,
  })
  await answer.arrayBuffer()
  return answer.status
}

async function seenOf(service: TestService, site: SiteKey) {
  await service.service.ingest.flush()
  const path = `/api/monitoring/sites/${site.id}`
  const { rejections } = await service.ask<RecentAnswer>('GET', `${path}/recent`)
  const { without_site } = await service.ask<DiagnosticsAnswer>('GET', `${path}/diagnostics`)
  return {
    ofSite: rejections.map(({ reason, path }) => `${reason}: ${path}`),
    ofNoSite: without_site.map(({ reason, requests }) => `${requests} ${reason}`),
  }
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

const PLACES: readonly [what: string, sent: (key: string) => Sent, status: number, seen: string][] = [
  ['X-Api-Key', (key) => ({ headers: { 'X-Api-Key': key } }), 401, 'unauthorized: header X-Api-Key'],
  [
    'a bearer token',
    (key) => ({ headers: { Authorization: `Bearer ${key}` } }),
    401,
    'unauthorized: header Authorization',
  ],
  ['a bare Authorization', (key) => ({ headers: { Authorization: key } }), 401, 'unauthorized: header Authorization'],
  [
    'the name of Basic',
    (key) => ({ headers: { Authorization: basic(`${key}:`) } }),
    401,
    'unauthorized: header Authorization',
  ],
  [
    'the password of Basic',
    (key) => ({ headers: { Authorization: basic(`tag:${key}`) } }),
    401,
    'unauthorized: header Authorization',
  ],
  ['the query', (key) => ({ path: `/ingest?v=2&api_key=${key}` }), 401, 'unauthorized: query of the address'],
  [
    'quotes',
    (key) => ({ headers: { 'X-Service-Key': `"${key}"` } }),
    401,
    'unauthorized: key header with more than the key',
  ],
  [
    'the header twice',
    (key) => ({ headers: { 'X-Service-Key': `${key}, ${key}` } }),
    401,
    'unauthorized: key header with more than the key',
  ],
  ['a GET', (key) => ({ method: 'GET', headers: { 'X-Service-Key': key } }), 405, 'method_not_allowed: GET'],
  [
    'a GET with the key in the query',
    (key) => ({ method: 'GET', path: `/ingest?key=${key}` }),
    405,
    'method_not_allowed: GET',
  ],
  [
    'an address that is none',
    (key) => ({ path: '/v1/collect', headers: { 'X-Service-Key': key } }),
    404,
    'not_found: address',
  ],
  [
    'an address of the API',
    (key) => ({ path: '/api/sites', headers: { 'X-Service-Key': key } }),
    400,
    'not_found: address',
  ],
]

test('a mistake that shows the key of a site is shown to its owner', async (t) => {
  const service = await startTestService(t, new TestClock(NOW))
  const client = await service.newClient()
  for (const [what, sent, status, seen] of PLACES) {
    await t.test(`the key as ${what}`, async () => {
      const site = await service.newSite(client)
      const other = await service.newSite(client)
      assert.equal(await send(service, sent(site.ingest_key)), status)
      assert.deepEqual((await seenOf(service, site)).ofSite, [seen])
      assert.deepEqual((await seenOf(service, other)).ofSite, [])
      const { total_events } = await service.ask<{ total_events: number }>(
        'GET',
        `/api/monitoring/sites/${site.id}/overview?hours=1`,
      )
      assert.equal(total_events, 0)
    })
  }
})

const STRANGERS: readonly [what: string, sent: Sent, seen: string][] = [
  ['a key that no site has', { headers: { 'X-Service-Key': newSecret() } }, '1 unauthorized'],
  ['a key that was cut off', { headers: { 'X-Service-Key': newSecret().slice(1) } }, '1 malformed_key'],
  ['an unknown key in another header', { headers: { 'X-Api-Key': newSecret() } }, '1 misplaced_key'],
  ['no key', {}, '1 no_key'],
  ['a token of something else', { headers: { Authorization: 'Bearer abc' } }, '1 no_key'],
  ['someone who opens the endpoint in a browser', { method: 'GET' }, '1 method_not_allowed'],
]

for (const [what, sent, seen] of STRANGERS) {
  test(`${what} is counted by kind, and for no site`, async (t) => {
    const service = await startTestService(t, new TestClock(NOW))
    const site = await service.newSite(await service.newClient())
    await send(service, sent)
    assert.deepEqual(await seenOf(service, site), { ofSite: [], ofNoSite: [seen] })
  })
}

test('a request elsewhere without a key of a site leaves no trace', async (t) => {
  const service = await startTestService(t, new TestClock(NOW))
  const site = await service.newSite(await service.newClient())
  await send(service, { path: '/v1/collect', headers: { 'X-Service-Key': newSecret() } })
  await send(service, { path: '/', method: 'GET' })
  assert.deepEqual(await seenOf(service, site), { ofSite: [], ofNoSite: [] })
})

test('an address of ingest is one in every spelling that the router takes', async (t) => {
  const service = await startTestService(t, new TestClock(NOW))
  const site = await service.newSite(await service.newClient())
  for (const path of ['/%69ngest', '/api/inges%74/?x=1', '/ingest#x']) {
    assert.equal(await send(service, { path, headers: { 'X-Service-Key': site.ingest_key } }), 200, path)
  }
  // The whole address, as in a request to a proxy.
  const headers = { 'Content-Type': 'application/json', 'X-Service-Key': site.ingest_key }
  const whole = request(service.url, { method: 'POST', path: `${service.url}/ingest?x=1`, headers }).end(BODY)
  const [{ statusCode }] = await once(
    whole.on('response', (answer) => answer.resume()),
    'response',
  )
  assert.equal(statusCode, 200)
  assert.deepEqual(await seenOf(service, site), { ofSite: [], ofNoSite: [] })
})

test('hundreds of mistakes of strangers, and of a sender with a key, take a bounded number of rows', async (t) => {
  const service = await startTestService(t, new TestClock(NOW))
  const site = await service.newSite(await service.newClient())
  const query = Array.from({ length: 200 }, () => newSecret()).join('&')
  for (let round = 0; round < 60; round++) {
    await Promise.all([
      send(service, { headers: { 'X-Api-Key': newSecret() } }),
      send(service, { headers: { 'X-Service-Key': `${round}`.repeat(9) } }),
      send(service, { path: `/ingest?${query}` }),
      send(service, { path: `/elsewhere/${round}?secret=${round}`, headers: { 'X-Service-Key': site.ingest_key } }),
      send(service, { path: `/ingest?who=${round}&key=${site.ingest_key}` }),
    ])
  }
  const { ofSite, ofNoSite } = await seenOf(service, site)
  assert.equal(ofSite.length, 50)
  assert.deepEqual([...new Set(ofSite)].sort(), ['not_found: address', 'unauthorized: query of the address'])
  assert.deepEqual(ofNoSite, ['60 malformed_key', '120 misplaced_key'])
})

test('header names that an operator allows are no mistakes', async (t) => {
  const service = await startTestService(t, new TestClock(NOW), { INGEST_KEY_HEADERS: 'X-Api-Key' })
  const site = await service.newSite(await service.newClient())
  assert.equal(await send(service, { headers: { 'X-Api-Key': site.ingest_key } }), 200)
  assert.equal(await send(service, { headers: { 'X-Service-Key': site.ingest_key } }), 401)
  assert.deepEqual((await seenOf(service, site)).ofSite, ['unauthorized: header X-Service-Key'])
})
