import assert from 'node:assert/strict'
import { escapedForLike, search } from '../../src/dashboard/search.ts'
import { DAY, floorTo, HOUR, newId, newOrderedId } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, testOnEveryEngine, testPerEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { startTestService } from '../../testkit/service.ts'
import { insertSite } from '../../testkit/sites.ts'

testOnEveryEngine('everything that has a name is found by a part of it, whatever its case', async (store) => {
  const [shop, blog, off] = [
    await insertSite(store, { name: 'shop' }),
    await insertSite(store, { name: 'blog' }),
    await insertSite(store, { name: 'off', is_active: 0 }),
  ]
  const today = floorTo(NOW, DAY)
  const sent = (site_no: number, kind: string, name: string, day = today) => ({ site_no, day, kind, name })
  await store.write
    .insertInto('daily_names')
    .values([
      sent(shop.site_no, 'tag', 'Meta CAPI'),
      sent(shop.site_no, 'tag', 'Meta CAPI', today - DAY),
      sent(blog.site_no, 'tag', 'Meta CAPI'),
      sent(blog.site_no, 'tag', 'meta pixel'),
      sent(blog.site_no, 'tag', 'Old Meta', today - 2 * DAY),
      sent(off.site_no, 'tag', 'Meta of one that is off'),
      sent(shop.site_no, 'event', 'metadata_loaded'),
      sent(shop.site_no, 'event', 'ÜBER_META'),
      sent(shop.site_no, 'event', '100%_META'),
    ])
    .execute()
  const incident = await insertIncident(store, null, NOW - HOUR, { title: 'META tags fail on 3 sites', vendor: 'meta' })
  await insertIncident(store, off, NOW - HOUR, { title: 'Meta fails, and no one looks' })
  const alert = await insertAlert(store, shop, NOW - HOUR, { title: 'It fails', subject_label: 'Meta CAPI' })
  await insertAlert(store, shop, NOW - HOUR, { title: 'Meta was slow', state: 'resolved', resolved_at: NOW })
  const marker = (at: number, to_version: string) => ({
    site_id: shop.id,
    id: newOrderedId(at),
    at,
    source: 'web container',
    from_version: '41',
    to_version,
    details: '{}',
  })
  await store.write
    .insertInto('deploy_markers')
    .values([marker(NOW - DAY, '42 with meta'), marker(NOW - 100 * DAY, 'old meta')])
    .execute()
  const note = {
    client_id: shop.client_id,
    site_id: shop.id,
    at: NOW - DAY,
    url: null,
    created_at: NOW,
    created_by: 'x',
  }
  const annotation = { ...note, id: newId(), text: 'New Meta token' }
  await store.write.insertInto('annotations').values(annotation).execute()

  const found = async (q: string, limit?: number) => {
    const { results, unread } = await search(
      { interactive: store.interactive },
      null,
      { q, ...(limit === undefined ? {} : { limit }) },
      NOW,
    )
    assert.deepEqual(unread, [])
    return results
  }
  assert.deepEqual(
    (await found(' mEtA ')).map(({ kind, id, label, sites }) => [kind, id, label, sites]),
    [
      ['incident', incident.id, 'META tags fail on 3 sites', 1],
      ['alert', alert.id, 'It fails', 1],
      ['tag', null, 'Meta CAPI', 2],
      ['tag', null, 'meta pixel', 1],
      ...['100%_META', 'metadata_loaded', 'ÜBER_META'].map((name) => ['event', null, name, 1]),
      ['version', null, 'web container 41 → 42 with meta', 1],
      ['annotation', annotation.id, 'New Meta token', 1],
    ],
  )
  const labels = async (q: string) => (await found(q)).map(({ label }) => label)
  // Characters of patterns stand for themselves.
  assert.deepEqual(await labels('0%_m'), ['100%_META'])
  assert.deepEqual(await labels('__'), [])
  assert.deepEqual(await labels('%%'), [])
  assert.deepEqual(await labels('a\\'), [])
  assert.deepEqual(await labels("'; drop table sites; --"), [])
  assert.deepEqual(await labels('ÜBER'), ['ÜBER_META'])
  assert.deepEqual(
    (await found('meta', 1)).map(({ kind }) => kind),
    ['incident', 'alert', 'tag', 'event', 'version', 'annotation'],
  )
  assert.deepEqual(await search(store, null, { q: 'meta' }, NOW, 0), {
    results: [],
    unread: ['incident', 'alert', 'tag', 'event', 'version', 'annotation'],
  })
})

testPerEngine(
  'what is too short, too long or blank is refused',
  async (engine, t) => {
    const api = await startTestService(t, newClock(), await placeFor(engine, t))
    for (const q of ['', 'x', '%20%20', 'x'.repeat(101)]) {
      assert.equal((await api.call('GET', `/api/search?q=${q}`)).status, 400, q)
    }
    assert.equal((await api.call('GET', '/api/search')).status, 400)
    assert.equal((await api.call('GET', '/api/search?q=xx&limit=51')).status, 400)
    assert.deepEqual(await api.ask('GET', `/api/search?q=${'x'.repeat(100)}`), { results: [], unread: [] })
    assert.equal(escapedForLike('a%b_c\\d'), 'a\\%b\\_c\\\\d')
  },
  logicEngines,
)
