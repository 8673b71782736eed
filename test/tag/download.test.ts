import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDefaults } from '../../src/management/site-routes.ts'
import { parseTemplate, type Template } from '../../tag/sandbox/index.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { startTestService } from '../../testkit/service.ts'
import { NOW, ORIGIN, openContainer, overviewOf, readTemplate, startMonitored, templateText } from './support.ts'

const ADMIN = 'admin-token-0123456789'
const VIEWER = 'viewer-token-0123456789'
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const defaultOf = ({ parameters }: Template, name: string) =>
  parameters.find((parameter) => parameter.name === name)?.defaultValue

test('the downloaded template reports to its site without a word typed', async (t) => {
  const monitored = await startMonitored(t, { PUBLIC_URL: `${ORIGIN}/`, ALLOW_UNAUTHENTICATED: 'true' })
  const { api, clock, site } = monitored
  const answer = await api.call('GET', `/api/sites/${site.id}/template.tpl`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="tagwarden-shop.tpl"')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const template = parseTemplate(answer.text)
  assert.equal(defaultOf(template, 'endpoint'), `${ORIGIN}/ingest`)
  assert.equal(defaultOf(template, 'ingestKey'), site.ingest_key)

  const container = await openContainer(t, clock, api.url, { template, fields: {} })
  await container.fire({ event_name: 'page_view' }, [])
  await container.idle()
  assert.equal((await overviewOf(monitored)).total_events, 1)
})

test('nothing but the two defaults differs from the template of the repository', async (t) => {
  const { api, site } = await startMonitored(t, { PUBLIC_URL: ORIGIN, ALLOW_UNAUTHENTICATED: 'true' })
  const { text } = await api.call('GET', `/api/sites/${site.id}/template.tpl`)
  const lines = new Set((await templateText()).split('\n'))
  const added = text.split('\n').filter((line) => !lines.has(line))
  assert.deepEqual(
    added.map((line) => line.trim().replace(/,$/, '')),
    [`"defaultValue": "${ORIGIN}/ingest"`, `"defaultValue": "${site.ingest_key}"`],
  )
})

test('without a public https address the endpoint is left to the user', async (t) => {
  for (const environment of [{}, { PUBLIC_URL: 'http://127.0.0.1:8080' }]) {
    const { api, site } = await startMonitored(t, environment)
    const template = parseTemplate((await api.call('GET', `/api/sites/${site.id}/template.tpl`)).text)
    assert.equal(defaultOf(template, 'endpoint'), undefined)
    assert.equal(defaultOf(template, 'ingestKey'), site.ingest_key)
  }
})

test('a viewer gets the template without the key', async (t) => {
  const environment = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER, PUBLIC_URL: ORIGIN }
  const api = await startTestService(t, new TestClock(NOW), environment)
  const client = (await api.call('POST', '/api/clients', { name: 'Acme' }, bearer(ADMIN))).json<{ id: string }>()
  const fields = { client_id: client.id, name: 'Café "Zoë" / Åre; X: 1', url: 'https://shop.example' }
  const created = await api.call('POST', '/api/sites', fields, bearer(ADMIN))
  assert.equal(created.status, 201, created.text)
  const site = created.json<{ id: string; ingest_key: string }>()
  const path = `/api/sites/${site.id}/template.tpl`
  assert.equal((await api.call('GET', path)).status, 401)
  const seen = await api.call('GET', path, undefined, bearer(VIEWER))
  assert.equal(seen.status, 200)
  assert.ok(!seen.text.includes(site.ingest_key))
  assert.equal(defaultOf(parseTemplate(seen.text), 'endpoint'), `${ORIGIN}/ingest`)
  const full = await api.call('GET', path, undefined, bearer(ADMIN))
  assert.ok(full.text.includes(site.ingest_key))
  assert.equal(full.headers.get('content-disposition'), 'attachment; filename="tagwarden-cafe-zoe-are-x-1.tpl"')
})

test('there is no template of a site that is not there', async (t) => {
  const { api } = await startMonitored(t)
  for (const id of [UNKNOWN_ID, 'nope']) {
    const answer = await api.call('GET', `/api/sites/${id}/template.tpl`)
    assert.equal(answer.status, 404)
    assert.equal(answer.json<{ error: string }>().error, 'not_found')
  }
})

test('no value can leave its place in the form', async () => {
  const hostile = '"}]\n___SANDBOXED_JS_FOR_SERVER___\nevil()\n$& $1'
  const changed = parseTemplate(withDefaults(await templateText(), { ingestKey: hostile }))
  const original = await readTemplate()
  assert.equal(defaultOf(changed, 'ingestKey'), hostile)
  assert.equal(changed.code.text, original.code.text)
  assert.deepEqual(changed.permissions.length, original.permissions.length)
  assert.throws(() => withDefaults('\n___TEMPLATE_PARAMETERS___\n[]\n___SANDBOXED_JS_FOR_SERVER___\n', { key: 'x' }), {
    message: 'the tag template has no setting key',
  })
})
