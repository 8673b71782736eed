import assert from 'node:assert/strict'
import type { TagVendorRecord, VendorRecord } from '../../src/analytics/index.ts'
import type { AuditRecord } from '../../src/management/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const MISSING = '00000000-0000-4000-8000-000000000000'
const TAG = 'Server push / purchase'

interface Report {
  vendor: string | null
  vendor_by_hand: boolean
}

testPerEngine(
  'the vendor of a tag is set, shown in reports, changed and taken back',
  async (engine, t) => {
    const clock = newClock()
    const api = await startTestService(t, clock, await placeFor(engine, t))
    const [site, other] = [await api.newSite(await api.newClient()), await api.newSite(await api.newClient())]
    const tags = [{ id: '1', name: TAG, status: 'success' as const, execution_time: 5 }]
    for (const one of [site, other]) {
      assert.equal((await api.ingest(one, eventPayload({ timestamp_ms: clock.now(), tags }))).status, 200)
    }
    const key = encodeURIComponent(TAG)
    const shown = async ({ id }: { id: string }) => {
      const path = `/api/monitoring/sites/${id}`
      const tag = await api.call('GET', `${path}/tags/${key}?hours=1`)
      if (tag.status === 404) return undefined
      const overview = await api.ask<{ tags: Report[] }>('GET', `${path}/overview?hours=1`)
      const [listed] = overview.tags
      const detail = tag.json<Report>()
      assert.deepEqual([listed?.vendor, listed?.vendor_by_hand], [detail.vendor, detail.vendor_by_hand])
      return [detail.vendor, detail.vendor_by_hand]
    }
    await until('the tag is in the reports', () => shown(site))
    assert.deepEqual(await shown(site), [null, false])

    const path = `/api/sites/${site.id}/tag-vendors`
    const set = (vendor: string) => api.ask<TagVendorRecord>('POST', `${path}/${key}`, { vendor })
    assert.partialDeepStrictEqual(await set('meta'), { tag_key: TAG, vendor: 'Meta', created_by: 'anonymous' })
    assert.deepEqual(await shown(site), ['Meta', true])
    assert.deepEqual(await shown(other), [null, false], 'of that site alone')
    await set(' Our CRM ')
    await set('Our CRM')
    assert.deepEqual(await shown(site), ['Our CRM', true])
    assert.deepEqual(
      (await api.ask<TagVendorRecord[]>('GET', path)).map(({ vendor }) => vendor),
      ['Our CRM'],
    )
    await api.ask('DELETE', `${path}/${key}`)
    assert.deepEqual(await shown(site), [null, false])
    const audit = await api.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${site.id}`)
    assert.deepEqual(
      audit.flatMap(({ action }) => (action.startsWith('tag_vendor') ? action : [])),
      ['tag_vendor.delete', 'tag_vendor.update', 'tag_vendor.create'],
      'what is as it was leaves no trace',
    )
  },
  logicEngines,
)

testPerEngine(
  'vendors are refused that cannot be, bounded, and go with their site',
  async (engine, t) => {
    const api = await startTestService(t, newClock(), await placeFor(engine, t))
    const site = await api.newSite(await api.newClient())
    const path = `/api/sites/${site.id}/tag-vendors`
    assert.ok((await api.ask<VendorRecord[]>('GET', '/api/vendors')).length >= 40)
    const REFUSED = [
      [400, 'POST', `${path}/x`, { vendor: ' ' }],
      [400, 'POST', `${path}/x`, { vendor: 'x'.repeat(61) }],
      [400, 'POST', `${path}/x`, {}],
      [404, 'POST', `/api/sites/${MISSING}/tag-vendors/x`, { vendor: 'meta' }],
      [404, 'DELETE', `${path}/x`, undefined],
      [404, 'GET', `/api/sites/${MISSING}/tag-vendors`, undefined],
    ] as const
    for (const [status, method, at, body] of REFUSED) {
      assert.equal((await api.call(method, at, body)).status, status, `${method} ${at} ${JSON.stringify(body)}`)
    }
    const { store } = api.service
    const rows = Array.from({ length: 500 }, (_, n) => ({
      site_id: site.id,
      tag_key: `tag ${n}`,
      vendor: 'meta',
      created_at: 0,
      created_by: 'admin',
    }))
    await store.write.insertInto('tag_vendors').values(rows).execute()
    assert.equal((await api.call('POST', `${path}/one-more`, { vendor: 'meta' })).status, 409)
    assert.equal((await api.call('POST', `${path}/${encodeURIComponent('tag 7')}`, { vendor: 'tiktok' })).status, 200)
    await api.ask('DELETE', `/api/sites/${site.id}`)
    assert.deepEqual(await store.read.selectFrom('tag_vendors').selectAll().execute(), [])
  },
  logicEngines,
)

testPerEngine(
  'the vendor of a tag with the longest name is set, and a key that no tag has is refused',
  async (engine, t) => {
    const api = await startTestService(t, newClock(), await placeFor(engine, t))
    const site = await api.newSite(await api.newClient())
    // No two the same, as PostgreSQL would store repeated ones in less than an index takes.
    const keyOf = (length: number) =>
      Array.from({ length }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000))).join('')
    const set = (key: string) =>
      api.call('POST', `/api/sites/${site.id}/tag-vendors/${encodeURIComponent(key)}`, { vendor: 'meta' })
    const longest = await set(keyOf(256))
    assert.equal(longest.json<TagVendorRecord>().tag_key, keyOf(256))
    assert.deepEqual(
      [longest.status, (await set(keyOf(257))).status, (await set(keyOf(1_000))).status],
      [200, 400, 400],
    )
  },
)
