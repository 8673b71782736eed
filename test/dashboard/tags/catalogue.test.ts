import assert from 'node:assert/strict'
import { setTagVendor } from '../../../src/analytics/tag-vendors.ts'
import { catalogue } from '../../../src/dashboard/tags/catalogue.ts'
import { vendorSites } from '../../../src/dashboard/tags/vendor-sites.ts'
import { noRuns, VendorReads } from '../../../src/dashboard/tags/vendor-sums.ts'
import { HOUR, isoTime, MINUTE, newId } from '../../../src/lib/index.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { logicEngines, placeFor, testLogic, testOnEveryEngine, testPerEngine } from '../../../testkit/engines.ts'
import { insertIncident } from '../../../testkit/incidents.ts'
import { batch } from '../../../testkit/payloads.ts'
import { startTestService } from '../../../testkit/service.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { count, reportContext } from '../../analytics/support.ts'
import { NOW, writeHours } from '../../today/support.ts'

/** Twenty past ten: the hour since nine is settled, the one since ten is under way. */
const AT = NOW + 20 * MINUTE
const LAST_HOUR = NOW - HOUR

/** Meta on every purchase; `failures` of them fail. */
const meta = (store: Store, site: SiteRow, at: number, purchase: number, failures: number, tag?: string) =>
  writeHours(store, site, [{ at, purchase, failures }], tag)

const alertAbout = (store: Store, site: SiteRow, tag: string) =>
  insertAlert(store, site, AT - HOUR, {
    probe_type: 'tag_failure_rate',
    subject: tag,
    subject_label: tag,
    details: JSON.stringify({ findings: [{ subject: { tag_key: tag } }] }),
  })

testOnEveryEngine('the catalogue adds up the tags of all sites by vendor, what fails first', async (store) => {
  const context = reportContext(store, AT)
  const reads = new VendorReads(context)
  const [shop, blog, off] = [
    await insertSite(store, { name: 'shop' }),
    await insertSite(store, { name: 'blog' }),
    await insertSite(store, { name: 'off', is_active: 0 }),
  ]
  await meta(store, shop, LAST_HOUR, 100, 40)
  await meta(store, blog, LAST_HOUR, 300, 0, 'facebook conversions')
  await meta(store, off, LAST_HOUR, 900, 900)
  await meta(store, shop, LAST_HOUR - HOUR, 5_000, 50, 'GA4 purchase')
  await meta(store, shop, LAST_HOUR - 2 * HOUR, 10, 0, 'My own thing')
  // A day ago, and in the hour that is under way.
  await meta(store, shop, LAST_HOUR - 24 * HOUR, 7_000, 7_000, 'TikTok')
  await count(store, blog, [
    batch(AT - MINUTE, {
      tag_metrics: { 'facebook conversions': { success: 3, failure: 9, timeout: 0, exception: 0 } },
    }),
  ])
  await alertAbout(store, shop, 'Meta CAPI')
  await alertAbout(store, off, 'Meta CAPI')
  const { id } = await insertIncident(store, null, AT - HOUR, { vendor: 'meta', title: 'Meta tags fail on 2 sites' })
  const seen = { site_no: shop.site_no, container_id: 'GTM-ABC1234', environment: '', first_seen_at: 0 }
  await store.write
    .insertInto('container_versions')
    .values([
      { ...seen, version: '41', last_seen_at: AT - 2 * MINUTE },
      { ...seen, version: '42', last_seen_at: AT },
      { ...seen, version: '43', environment: 'preview', last_seen_at: AT },
      { ...seen, site_no: blog.site_no, version: '7', last_seen_at: AT },
      { ...seen, site_no: blog.site_no, version: '6', last_seen_at: AT - 2 * HOUR },
    ])
    .execute()
  // However many versions a site names, the others have theirs.
  const many = Array.from({ length: 5_000 }, (_, n) => ({
    ...seen,
    version: `p${n}`,
    environment: 'preview',
    last_seen_at: AT,
  }))
  for (let n = 0; n < 5_000; n += 1_000) {
    await store.write
      .insertInto('container_versions')
      .values(many.slice(n, n + 1_000))
      .execute()
  }

  const all = await catalogue(context, reads, null, {})
  assert.partialDeepStrictEqual(all, { to: isoTime(NOW), complete: true, total: 3 })
  assert.deepEqual(
    all.vendors.map(({ vendor, name, sites, tags, runs, bad, failing_sites }) => [
      vendor,
      name,
      sites,
      tags,
      runs,
      bad,
      failing_sites,
    ]),
    [
      ['meta', 'Meta', 2, 2, 400, 40, 1],
      ['google_analytics', 'Google Analytics', 1, 1, 5_000, 50, 0],
      [null, 'Other tags', 1, 1, 10, 0, 0],
    ],
  )
  const [first] = all.vendors
  assert.partialDeepStrictEqual(first, { failure_rate: 0.1, incident: { id }, versions: { known: 2, mixed: 1 } })
  assert.ok((first?.p95_ms ?? 0) > 200)
  const second = await catalogue(context, reads, null, { limit: 1, offset: 1 })
  assert.deepEqual([second.total, second.vendors.map(({ name }) => name)], [3, ['Google Analytics']])
  const ofBlog = await catalogue(context, reads, null, { client_id: blog.client_id })
  assert.deepEqual(
    ofBlog.vendors.map(({ name, runs, failing_sites }) => [name, runs, failing_sites]),
    [['Meta', 300, 0]],
  )

  // Whose tag it is counts at once, though counts are read once an hour.
  const ctx = { store, clock: context.clock, actor: 'admin' }
  await setTagVendor(ctx, shop.id, 'My own thing', { vendor: 'Our CRM' })
  const said = await catalogue(context, reads, null, {})
  assert.deepEqual(
    said.vendors.map(({ vendor }) => vendor),
    ['meta', 'google_analytics', 'Our CRM'],
  )

  const sites = await vendorSites(context, reads, null, { vendor: 'meta' })
  assert.partialDeepStrictEqual(sites, { name: 'Meta', total: 2, failing_sites: 1, incident: { id } })
  assert.deepEqual([sites.hours.length, sites.hours.at(-1)], [25, isoTime(NOW)])
  assert.deepEqual(
    sites.sites.map(({ site_id, tags, failing, versions, hours }) => [
      site_id,
      tags,
      failing,
      versions,
      hours.runs.slice(-2),
      hours.bad.slice(-2),
    ]),
    [
      [shop.id, ['Meta CAPI'], true, ['GTM-ABC1234 41', 'GTM-ABC1234 42'], [100, 0], [40, 0]],
      // The hour under way is read as well.
      [blog.id, ['facebook conversions'], false, ['GTM-ABC1234 7'], [300, 12], [0, 9]],
    ],
  )
  const rest = await vendorSites(context, reads, null, { vendor: 'meta', limit: 1, offset: 1 })
  assert.deepEqual(
    rest.sites.map(({ site_id }) => site_id),
    [blog.id],
  )
  const crm = await vendorSites(context, reads, null, { vendor: 'Our CRM' })
  assert.deepEqual([crm.total, crm.sites[0]?.tags], [1, ['My own thing']])
  assert.equal((await vendorSites(context, reads, null, {})).total, 0)

  // It ran a day ago, and has been missing since.
  await alertAbout(store, shop, 'TikTok')
  const missing = (await catalogue(context, reads, null, {})).vendors.find(({ vendor }) => vendor === 'tiktok')
  assert.partialDeepStrictEqual(missing, { sites: 1, tags: 0, runs: 0, failure_rate: null, failing_sites: 1 })
  const without = await vendorSites(context, reads, null, { vendor: 'tiktok' })
  assert.partialDeepStrictEqual(without, { total: 1, failing_sites: 1 })
  assert.deepEqual(
    without.sites.map(({ site_id, tags, failing, hours }) => [site_id, tags, failing, new Set(hours.runs)]),
    [[shop.id, [], true, new Set([0])]],
  )
})

testPerEngine(
  'nonsense is refused, and a vendor that no one uses has no sites',
  async (engine, t) => {
    const api = await startTestService(t, new TestClock(AT), await placeFor(engine, t))
    assert.partialDeepStrictEqual(await api.ask('GET', '/api/tags'), { total: 0, complete: true, vendors: [] })
    assert.partialDeepStrictEqual(await api.ask('GET', '/api/tags/sites?vendor=Nobody'), { total: 0, name: 'Nobody' })
    for (const [status, path] of [
      [404, `/api/tags?client_id=${newId()}`],
      [400, '/api/tags?limit=0'],
      [400, '/api/tags?limit=201'],
      [400, '/api/tags?offset=-1'],
      [400, '/api/tags/sites?vendor='],
      [400, `/api/tags/sites?vendor=${'x'.repeat(61)}`],
    ] as const) {
      assert.equal((await api.call('GET', path)).status, status, path)
    }
  },
  logicEngines,
)

testLogic('the catalogue of 10,000 sites with the same vendors keeps no one waiting', async (store) => {
  const vendors = new Map(['meta', 'tiktok', 'pinterest', 'snapchat', 'linkedin'].map((vendor) => [vendor, noRuns()]))
  const bySite = new Map(Array.from({ length: 10_000 }, (_, siteNo) => [siteNo, vendors]))
  const window = { from: NOW - 24 * HOUR, to: NOW }
  const reads = { of: async () => ({ window, bySite, isComplete: true }) }
  const before = process.threadCpuUsage()
  const all = await catalogue(reportContext(store, AT), reads, null, {})
  // Of its own time, as others have most of a busy machine's. It took several seconds while each site copied the sites before it, and takes tens
  // of milliseconds.
  assert.ok(process.threadCpuUsage(before).user < 1_500_000)
  assert.deepEqual(
    all.vendors.map(({ sites }) => sites),
    Array(5).fill(10_000),
  )
})
