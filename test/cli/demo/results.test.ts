import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Chat } from '../../../src/cli/demo/chat.ts'
import { folderFor, gapsOf, settle, writeHistory } from '../../../src/cli/demo/history.ts'
import { incidentsAround } from '../../../src/cli/demo/incidents.ts'
import { type Results, writeResultHistory } from '../../../src/cli/demo/results.ts'
import { ensureDemoSites } from '../../../src/cli/demo/sites.ts'
import { startTagServer } from '../../../src/cli/demo/tag-server.ts'
import { OUTDOOR } from '../../../src/cli/demo/world.ts'
import { readConfig } from '../../../src/config.ts'
import { DAY, HOUR, MINUTE, systemClock } from '../../../src/lib/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { openEmptyStore, sqlite } from '../../../testkit/engines.ts'

const TO = Date.parse('2026-11-20T09:40:00Z')
const retention = { minuteDays: 7, hourDays: 400 }

/** The history of one site up to `to`, as the demo writes it. */
async function fill(t: TestContext, store: Store, to: number): Promise<Results> {
  const earliest = to - DAY
  const incidents = incidentsAround(to)
  const sites = await ensureDemoSites(store, { now: () => earliest }, 'the folder', [OUTDOOR])
  const gaps = await gapsOf(store, sites, earliest)
  await writeHistory({ folder: await folderFor(store), gaps, incidents, seed: 'test', retention, to }, () => undefined)
  await settle(store, to, () => undefined)
  const times = { clock: systemClock, earliest, start: to }
  const results = await writeResultHistory({ store, config: readConfig({}), sites: gaps, incidents, ...times })
  t.after(() => results.tagServer.close())
  return results
}

const alertsOf = (store: Store) => store.read.selectFrom('alerts').selectAll().orderBy('id').execute()
const markersOf = (store: Store) => store.read.selectFrom('deploy_markers').selectAll().orderBy('at').execute()

test('the past of a demo', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const first = await fill(t, store, TO)

  await t.test('results of the past are found on the counts of their time, and alerts follow from them', async () => {
    const rows = await store.read.selectFrom('probe_results').selectAll().execute()
    assert.equal(rows.length, first.results)
    const errors = rows.filter(({ status }) => status === 'error')
    assert.deepEqual(
      errors.map(({ message }) => message),
      [],
    )
    assert.ok(rows.every(({ executed_at }) => executed_at < TO))
    const [marker, ...otherMarkers] = await markersOf(store)
    const [alert, ...otherAlerts] = (await alertsOf(store)).filter(
      ({ probe_type }) => probe_type === 'tag_failure_rate',
    )
    assert.ok(marker !== undefined && alert !== undefined)
    assert.deepEqual([otherMarkers, otherAlerts], [[], []])
    assert.deepEqual([marker.source, marker.from_version, marker.to_version], ['web container', '41', '42'])
    const began = TO - 40 * MINUTE
    assert.ok(marker.at <= began && began < alert.opened_at && alert.opened_at < began + 20 * MINUTE)
    assert.deepEqual([alert.severity, alert.state], ['critical', 'open'])
    const opening = rows.find(
      ({ executed_at, probe_id }) => probe_id === alert.probe_id && executed_at === alert.opened_at,
    )
    assert.ok(opening !== undefined && opening.status !== 'ok', 'the alert was opened by a result of that moment')
    assert.ok(alert.first_notified_at !== null && alert.first_notified_at < alert.opened_at + MINUTE)
    const deliveries = await store.read.selectFrom('deliveries').selectAll().execute()
    assert.ok(
      deliveries.length > 0 && deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1),
    )
    assert.ok(first.chat.messages.some(({ tone, text }) => tone === 'critical' && text.includes('Meta CAPI')))
    assert.deepEqual(await store.read.selectFrom('nodes').selectAll().execute(), [])
  })

  await t.test(
    'a demo that continues resolves what it left open, opens it again, and publishes the next version',
    async (t) => {
      await first.tagServer.close()
      const webhook = () => store.read.selectFrom('clients').select('chat_webhook').executeTakeFirst()
      const before = await webhook()
      await store.write.insertInto('listening').values({ id: 1, listened_until: TO }).execute()
      const second = await fill(t, store, TO + 5 * HOUR)
      assert.equal(second.tagServer.url, first.tagServer.url)
      assert.deepEqual(await webhook(), before)
      const alerts = (await alertsOf(store)).filter(({ probe_type }) => probe_type === 'tag_failure_rate')
      assert.deepEqual(
        alerts.map(({ state, resolution }) => [state, resolution]),
        [
          ['resolved', 'recovered'],
          ['open', null],
        ],
      )
      assert.deepEqual(
        (await markersOf(store)).map(({ to_version }) => to_version),
        ['42', '43'],
      )
      const unjudged = store.read.selectFrom('probe_results').select('message').where('status', '=', 'error')
      assert.deepEqual(await unjudged.execute(), [])
      assert.equal((await fill(t, store, TO + 5 * HOUR)).results, 0)
    },
  )
})

test('a tag server that someone gave a site stays, and is not asked about the past', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  await ensureDemoSites(store, systemClock, 'the folder', [OUTDOOR])
  await store.write.updateTable('sites').set({ tag_server_url: 'https://tags.example' }).execute()
  await fill(t, store, TO)
  const site = await store.read.selectFrom('sites').select('tag_server_url').executeTakeFirstOrThrow()
  assert.equal(site.tag_server_url, 'https://tags.example')
  const asked = await store.read
    .selectFrom('probes')
    .innerJoin('probe_results', 'probe_results.probe_id', 'probes.id')
    .select('probe_type')
    .where('probe_type', 'in', ['http_health', 'tag_manager_version', 'image_version'])
    .execute()
  assert.deepEqual(asked, [])
})

test('the tag server is healthy, hands out versions, and takes another port when its own is taken', async (t) => {
  const versionOf = (id: string) => (id === 'GTM-ABC1234' ? 42 : undefined)
  const server = await startTagServer(null, versionOf, new Chat('key'))
  t.after(() => server.close())
  const answer = async (path: string) => {
    const response = await fetch(server.url + path)
    return [response.status, await response.text()] as const
  }
  assert.deepEqual(await answer('/shop/healthy'), [200, 'ok'])
  assert.match((await answer('/gtm.js?id=GTM-ABC1234'))[1], /"version":"42"/)
  assert.equal((await answer('/gtm.js?id=GTM-OTHER'))[0], 404)
  assert.match((await answer('/shop/image'))[1], /gtm-cloud-image:\d+\.\d+\.\d+"/)
  assert.equal((await answer('/'))[0], 404)
  const other = await startTagServer(Number(new URL(server.url).port), versionOf, new Chat('key'))
  t.after(() => other.close())
  assert.notEqual(other.url, server.url)
})
