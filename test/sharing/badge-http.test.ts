import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HOUR, isoTime, MINUTE, SECOND } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'
import { hearFrom } from '../../testkit/sites.ts'
import { ADMIN, UNKNOWN_ID, VIEWER } from '../management/support.ts'

async function start(t: TestContext, engine: TestEngine) {
  const clock = new TestClock('2026-11-20T10:00:30.000Z')
  const tokens = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER }
  const api = await startTestService(t, clock, { ...tokens, ...(await placeFor(engine, t)) })
  const asAdmin = async <T>(method: string, path: string, body: object): Promise<T> => {
    const answer = await api.call(method, path, body, bearer(ADMIN))
    assert.ok(answer.status < 300, answer.text)
    return answer.json<T>()
  }
  const client = await asAdmin<{ id: string }>('POST', '/api/clients', { name: 'Acme' })
  const fields = { client_id: client.id, name: 'Shop & Co', url: 'https://shop.example/secret-path' }
  const site = await asAdmin<{ id: string; ingest_key: string }>('POST', '/api/sites', fields)
  const { store } = api.service
  const far = { next_run_at: clock.now() + HOUR, created_at: clock.now() }
  const probe = await insertProbe(store, site.id, { ...far, last_status: 'ok', last_message: 'not public' })
  await hearFrom(store, site.id, clock.now())
  const setStatus = (last_status: string) =>
    store.write.updateTable('probes').set({ last_status }).where('id', '=', probe.id).execute()
  const get = (query = '', headers = {}) => api.call('GET', `/badge/${site.id}.svg${query}`, undefined, headers)
  return { clock, api, asAdmin, client, site, setStatus, get }
}

testPerEngine(
  'a badge needs no key, shows the status, and is at most five seconds behind',
  async (engine, t) => {
    const { api, site, clock, get, setStatus } = await start(t, engine)
    const fine = await get()
    assert.equal((await api.call('GET', `/badge/${site.id.toUpperCase()}.svg`)).text, fine.text)
    assert.equal(fine.status, 200)
    assert.match(fine.text, /aria-label="Shop &#38; Co: ok"/)
    assert.equal(fine.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
    assert.equal(fine.headers.get('cache-control'), 'public, max-age=60')
    assert.equal(fine.headers.get('content-security-policy'), "default-src 'none'")
    assert.equal(fine.headers.get('x-content-type-options'), 'nosniff')
    await setStatus('critical')
    clock.advance(5 * SECOND - 1)
    assert.equal((await get()).text, fine.text)
    clock.advance(1)
    const broken = await get()
    assert.match(broken.text, /aria-label="Shop &#38; Co: critical"/)
    const etag = fine.headers.get('etag') ?? ''
    assert.notEqual(broken.headers.get('etag'), etag)
    assert.equal((await get('', { 'if-none-match': etag })).status, 200)
    const same = await get('', { 'if-none-match': broken.headers.get('etag') ?? '' })
    assert.deepEqual([same.status, same.text], [304, ''])
  },
  logicEngines,
)

testPerEngine(
  'a badge says in its title since when there is trouble, and not once it is over',
  async (engine, t) => {
    const { clock, api, asAdmin, client, site, setStatus, get } = await start(t, engine)
    const { store } = api.service
    await setStatus('critical')
    const at = { started_at: Date.parse('2026-11-20T09:41:59.000Z') }
    const alert = await insertAlert(store, { id: site.id, client_id: client.id }, clock.now(), at)
    clock.advance(5 * SECOND)
    const { text } = await get()
    const title = 'Shop &#38; Co: critical since 2026-11-20 09:41 UTC'
    assert.ok(text.includes(`aria-label="${title}"`) && text.includes(`<title>${title}</title>`), text)
    // As on the status page: what breaks during announced work is no news, and what was broken before it is.
    const [starts_at, ends_at] = [isoTime(clock.now() - MINUTE), isoTime(clock.now() + HOUR)]
    const work = { site_id: site.id, kind: 'once', title: 'Move', starts_at, ends_at }
    const { id } = await asAdmin<{ id: string }>('POST', '/api/maintenance', work)
    clock.advance(5 * SECOND)
    const until = `, under maintenance until ${ends_at.slice(0, 16).replace('T', ' ')} UTC</title>`
    assert.ok((await get()).text.includes(`<title>Shop &#38; Co: unknown${until}`))
    await asAdmin('PATCH', `/api/maintenance/${id}`, { starts_at: isoTime(alert.opened_at + SECOND) })
    clock.advance(5 * SECOND)
    assert.ok((await get()).text.includes(`<title>${title}${until}`))
    await setStatus('ok')
    await store.write.updateTable('alerts').set({ state: 'resolved' }).where('id', '=', alert.id).execute()
    clock.advance(5 * SECOND)
    assert.ok((await get()).text.includes(`<title>Shop &#38; Co: ok${until}`))
  },
  logicEngines,
)

testPerEngine(
  'a badge bears another label when asked to, and refuses what is none',
  async (engine, t) => {
    const { get } = await start(t, engine)
    assert.match((await get('?label=%3Cb%3E%20our%20tags')).text, /aria-label="&#60;b&#62; our tags: ok"/)
    assert.equal((await get(`?label=${'x'.repeat(40)}`)).status, 200)
    for (const query of [
      `?label=${'x'.repeat(41)}`,
      '?label=',
      '?label=%20',
      '?label=a%0Ab',
      '?label=%E2%80%AEko',
      '?colour=red',
    ]) {
      const refused = await get(query)
      assert.equal(refused.status, 400, query)
      assert.equal(refused.json<{ error: string }>().error, 'invalid_request')
    }
  },
  logicEngines,
)

testPerEngine(
  'what is unknown or switched off is an image that says so, with 404',
  async (engine, t) => {
    const { clock, api, asAdmin, client, site, get } = await start(t, engine)
    const unknown = async (path: string) => {
      const answer = await api.call('GET', path)
      assert.equal(answer.status, 404, path)
      assert.match(answer.text, /aria-label="tagwarden: unknown"/)
      assert.equal(answer.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
    }
    await unknown(`/badge/${UNKNOWN_ID}.svg`)
    await unknown('/badge/no-id.svg')
    assert.equal((await get()).status, 200)
    for (const path of [`/api/sites/${site.id}`, `/api/clients/${client.id}`]) {
      await asAdmin('PATCH', path, { is_active: false })
      clock.advance(5 * SECOND)
      await unknown(`/badge/${site.id}.svg`)
      await asAdmin('PATCH', path, { is_active: true })
      clock.advance(5 * SECOND)
      assert.equal((await get()).status, 200)
    }
    assert.equal((await api.call('GET', `/badge/${site.id}`, undefined, { accept: 'text/html' })).status, 404)
  },
  logicEngines,
)

testPerEngine(
  'a badge of a site without trouble holds nothing but name and status',
  async (engine, t) => {
    const { get, site, client } = await start(t, engine)
    const { text } = await get()
    for (const secret of [site.ingest_key, site.id, client.id, 'Acme', 'secret-path', 'business']) {
      assert.ok(!text.includes(secret), secret)
    }
  },
  logicEngines,
)

testPerEngine(
  'a badge of a site that never sent anything does not say that it is ok',
  async (engine, t) => {
    const { api, asAdmin, client, clock } = await start(t, engine)
    const fields = { client_id: client.id, name: 'New', url: 'https://new.example' }
    const site = await asAdmin<{ id: string }>('POST', '/api/sites', fields)
    const at = clock.now()
    const unjudged = { last_status: 'ok', last_reason: 'no_data', created_at: at, next_run_at: at + HOUR }
    await insertProbe(api.service.store, site.id, unjudged)
    await insertProbe(api.service.store, site.id, { ...unjudged, last_reason: null })
    clock.advance(5 * SECOND)
    assert.match((await api.call('GET', `/badge/${site.id}.svg`)).text, /aria-label="New: unknown"/)
  },
  logicEngines,
)
