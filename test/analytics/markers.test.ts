import assert from 'node:assert/strict'
import { analyticsRoutes, markers } from '../../src/analytics/index.ts'
import { MINUTE, newOrderedId } from '../../src/lib/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { testLogic } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { openApp, refused } from '../http/support.ts'
import { reportContext } from './support.ts'

const NOW = Date.parse('2026-11-20T12:34:30Z')

async function insertMarkers(store: Store, site: SiteRow, changes: readonly { at: number; to: string }[]) {
  const rows = changes.map(({ at, to }) => ({
    site_id: site.id,
    id: newOrderedId(at),
    at,
    source: 'web container',
    from_version: null,
    to_version: to,
    details: '{}',
  }))
  await store.write.insertInto('deploy_markers').values(rows).execute()
}

testLogic('the markers of a site in a window come oldest first', async (store, t) => {
  const site = await insertSite(store)
  const other = await insertSite(store)
  const times = [NOW - 120 * MINUTE, NOW - 30 * MINUTE, NOW - 10 * MINUTE]
  await insertMarkers(
    store,
    site,
    times.map((at, index) => ({ at, to: String(41 + index) })),
  )
  await insertMarkers(store, other, [{ at: NOW - MINUTE, to: '7' }])
  const context = reportContext(store, NOW)
  const versions = async (query: Parameters<typeof markers>[2]) =>
    (await markers(context, site, query)).map(({ to_version }) => to_version)
  assert.deepEqual(await versions({}), ['41', '42', '43'])
  assert.deepEqual(await versions({ hours: 1 }), ['42', '43'])
  assert.deepEqual(await versions({ from: NOW - 30 * MINUTE, to: NOW - 10 * MINUTE }), ['42'], 'half-open')

  const app = await openApp(t, (routes) => analyticsRoutes(routes, context))
  const path = `/api/monitoring/sites/${site.id}/markers`
  const response = await app.inject({ url: `${path}?from=2026-11-20T12:20:00Z` })
  assert.deepEqual(response.json(), [
    { at: '2026-11-20T12:24:30.000Z', source: 'web container', from_version: null, to_version: '43' },
  ])
  await refused(app, { url: `${path}?hours=0` }, 400, 'invalid_request')
})

testLogic('of many markers the latest 200 are answered', async (store) => {
  const site = await insertSite(store)
  const changes = Array.from({ length: 230 }, (_, index) => ({ at: NOW - (231 - index) * MINUTE, to: String(index) }))
  await insertMarkers(store, site, changes)
  const found = await markers(reportContext(store, NOW), site, {})
  assert.deepEqual([found.length, found[0]?.to_version, found.at(-1)?.to_version], [200, '30', '229'])
})
