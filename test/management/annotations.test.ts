import assert from 'node:assert/strict'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import type { AnnotationRecord, AuditRecord } from '../../src/management/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { openManagement, UNKNOWN_ID } from './support.ts'

const PATH = '/api/annotations'
const texts = (found: readonly AnnotationRecord[]) => found.map(({ text }) => text)

testOnEveryEngine('what happened is written down, listed by its time, and deleted', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const [shop, blog] = [await api.site(client), await api.site(client, { name: 'blog' })]
  const now = api.clock.now()
  const add = async (body: object) => (await api.call<AnnotationRecord>('POST', PATH, body)).body
  const banner = await add({ site_id: shop.id, text: ' Consent banner changed ', url: 'https://git.example/1' })
  assert.deepEqual(
    [banner.text, banner.url, banner.client_id, banner.site_id, banner.created_by],
    ['Consent banner changed', 'https://git.example/1', client.id, shop.id, 'anonymous'],
  )
  assert.ok(Math.abs(Date.parse(banner.at) - now) < HOUR, 'now, where no time is given')
  await add({ client_id: client.id, text: 'New agency', at: isoTime(now - 3 * DAY) })
  await add({ site_id: blog.id, text: 'Relaunch', at: isoTime(now - DAY) })

  const list = async (query: string) => texts(await api.get<AnnotationRecord[]>(`${PATH}?${query}`))
  assert.deepEqual(await list(`site_id=${shop.id}`), ['New agency', 'Consent banner changed'])
  assert.deepEqual(await list(`client_id=${client.id}`), ['New agency', 'Relaunch', 'Consent banner changed'])
  const window = new URLSearchParams({ site_id: blog.id, from: isoTime(now - 2 * DAY), to: isoTime(now - HOUR) })
  assert.deepEqual(await list(window.toString()), ['Relaunch'])

  await api.delete(`${PATH}/${banner.id}`)
  await api.refused(404, 'DELETE', `${PATH}/${banner.id}`)
  assert.deepEqual(await list(`site_id=${shop.id}`), ['New agency'])
  const audit = await api.get<AuditRecord[]>(`/api/audit?entity_id=${banner.id}`)
  assert.deepEqual(
    audit.map(({ action }) => action),
    ['annotation.delete', 'annotation.create'],
  )
})

testLogic('annotations are refused that are of nothing, say nothing or lead anywhere', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const site = await api.site(client)
  const text = 'Release 12'
  const bodies: object[] = [
    { text },
    { text, site_id: site.id, client_id: client.id },
    { text, site_id: UNKNOWN_ID },
    { text, client_id: UNKNOWN_ID },
    { site_id: site.id },
    { site_id: site.id, text: '  ' },
    { site_id: site.id, text: 'Release\n12' },
    { site_id: site.id, text: '\u202e21 esaeleR' },
    { site_id: site.id, text: 'x'.repeat(201) },
    { site_id: site.id, text, url: 'javascript:alert(1)' },
    { site_id: site.id, text, at: 'yesterday' },
    { site_id: site.id, text, at: isoTime(Date.now() + 400 * DAY) },
    { site_id: site.id, text, colour: 'red' },
  ]
  for (const body of bodies) await api.refused(400, 'POST', PATH, body)
  for (const query of ['', `?site_id=${site.id}&client_id=${client.id}`, `?site_id=${UNKNOWN_ID}`]) {
    await api.refused(400, 'GET', `${PATH}${query}`)
  }
  assert.deepEqual(await api.get(`${PATH}?site_id=${site.id}`), [])
})

testLogic('annotations are deleted with their site, and those of all sites with their client', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const site = await api.site(client)
  await api.call('POST', PATH, { site_id: site.id, text: 'of the site' })
  await api.call('POST', PATH, { client_id: client.id, text: 'of all sites' })
  await api.delete(`/api/sites/${site.id}`)
  assert.deepEqual(texts(await api.get(`${PATH}?client_id=${client.id}`)), ['of all sites'])
  await api.delete(`/api/clients/${client.id}`)
  assert.deepEqual(await store.read.selectFrom('annotations').selectAll().execute(), [])
})
