import assert from 'node:assert/strict'
import { DAY, HOUR, isoTime, MINUTE, monthOf } from '../../../src/lib/index.ts'
import type { ProbeType } from '../../../src/probes/index.ts'
import { dataFreshness } from '../../../src/probes/types/data-freshness.ts'
import { dataVolume } from '../../../src/probes/types/data-volume.ts'
import { tagFailureRate } from '../../../src/probes/types/tag-failure-rate.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { event } from '../../../testkit/payloads.ts'
import { every, resultOf, SLOT, siteWith } from './data-support.ts'

const SILENT_FROM = NOW - HOUR
/** They judge whether data come at all. */
const JUDGES_SILENCE: readonly ProbeType[] = [dataFreshness, dataVolume]

/** A site with an event every five minutes of three days, up to `until`. */
const siteUntil = (store: Store, until = SILENT_FROM, over: Partial<SiteRow> = {}): Promise<SiteRow> =>
  siteWith(
    store,
    every(SLOT, NOW - 3 * DAY, until).map((time) => event(time)),
    over,
  )

/** @param path of a kept refusal, in place of which a limit of the plan is named */
async function refuse(
  store: Store,
  site: SiteRow,
  reason: string,
  times: readonly number[],
  path?: string,
): Promise<void> {
  const rows = times.map((bucket) => ({ site_no: site.site_no, bucket, reason, total: 3 }))
  await store.write.insertInto('rejection_counts').values(rows).execute()
  if (path === undefined) return
  const row = { site_no: site.site_no, id: 1, rejected_at: NOW, reason, path }
  await store.write.insertInto('rejections').values(row).execute()
}

/** Lets the client have a quota, and `events` of it used this month. */
async function useQuota(store: Store, site: SiteRow, events: number, limit: number): Promise<void> {
  await store.write.updateTable('clients').set({ events_per_month: limit }).where('id', '=', site.client_id).execute()
  await store.write.deleteFrom('client_usage').where('client_id', '=', site.client_id).execute()
  const row = { client_id: site.client_id, month: monthOf(NOW), events, requests: events }
  await store.write.insertInto('client_usage').values(row).execute()
}

const REFUSED = every(MINUTE, SILENT_FROM, NOW)

testLogic('a used-up quota is said by every data probe instead of silence', async (store, t) => {
  const site = await siteUntil(store)
  await useQuota(store, site, 1_000, 1_000)
  await refuse(store, site, 'rate_limited', REFUSED)
  const says = 'refused: quota used up since 20 Nov, 09:00 (1,000 of 1,000 events this month, resets 1 Dec, 00:00)'
  const freshness = await resultOf(t, store, site, dataFreshness)
  assert.deepEqual([freshness.status, freshness.reason, freshness.message], ['critical', null, says])
  assert.deepEqual(freshness.details.refused, { why: 'quota', since: isoTime(SILENT_FROM), requests: 180 })
  const volume = await resultOf(t, store, site, dataVolume)
  assert.deepEqual([volume.status, volume.reason, volume.message], ['warning', null, says])
  const tags = await resultOf(t, store, site, tagFailureRate)
  assert.deepEqual([tags.status, tags.reason, tags.message], ['ok', 'no_data', says])
})

testLogic('a used-up quota is critical on a site that is still being learned', async (store, t) => {
  const site = await siteWith(store, [])
  await useQuota(store, site, 1_200, 1_000)
  await refuse(store, site, 'rate_limited', [NOW - 2 * MINUTE])
  const { status, message } = await resultOf(t, store, site, dataFreshness)
  assert.equal(status, 'critical')
  assert.match(message, /^refused: quota used up since 20 Nov, 09:58/)
})

testLogic('a quota of which nothing is left does not explain that nothing was sent', async (store, t) => {
  const site = await siteUntil(store, NOW - 7 * HOUR)
  await useQuota(store, site, 1_000, 1_000)
  await refuse(store, site, 'rate_limited', [NOW - 8 * HOUR])
  const { status, message } = await resultOf(t, store, site, dataFreshness)
  assert.equal(status, 'critical')
  assert.match(message, /^nothing received for /)
})

testOnEveryEngine('a quota that was enlarged is no reason any more', async (store, t) => {
  const site = await siteUntil(store, NOW)
  await useQuota(store, site, 1_000, 2_000)
  await refuse(store, site, 'rate_limited', REFUSED)
  const { status, message } = await resultOf(t, store, site, dataFreshness)
  assert.deepEqual([status, message], ['ok', 'last event 5 min ago'])
})

testOnEveryEngine(
  'a revoked key is a warning while a sender still uses it, and nothing to judge later',
  async (store, t) => {
    const site = await siteUntil(store, SILENT_FROM, { key_revoked_at: SILENT_FROM })
    const unused = await resultOf(t, store, site, dataFreshness)
    assert.deepEqual([unused.status, unused.reason], ['ok', 'no_data'])
    assert.equal(unused.message, 'refused: key revoked since 20 Nov, 09:00')
    // Before the key was revoked, other requests were refused.
    await refuse(store, site, 'forbidden', [SILENT_FROM - MINUTE, ...REFUSED])
    for (const type of JUDGES_SILENCE) {
      const used = await resultOf(t, store, site, type)
      assert.deepEqual([used.status, used.reason], ['warning', null], type.name)
      assert.equal(used.message, 'refused: key revoked since 20 Nov, 09:00 (180 requests in the last 24 hours)')
    }
    await store.write.deleteFrom('rejection_counts').where('bucket', '>', SILENT_FROM).execute()
    await store.write.updateTable('rejection_counts').set({ total: 1 }).execute()
    const { message } = await resultOf(t, store, site, dataFreshness)
    assert.equal(message, 'refused: key revoked since 20 Nov, 09:00 (1 request in the last 24 hours)')
  },
)

const SILENCES: readonly [why: string, reason: string, path: string | undefined, words: string][] = [
  ['a limit that is not known', 'rate_limited', undefined, "over the client's rate or the rest of its quota"],
  ['its rate', 'rate_limited', 'requests per second', "over the client's rate"],
  ['the rest of its quota', 'rate_limited', 'events per month', "over the rest of the client's quota"],
  ['bytes under way', 'rate_limited', 'bytes under way', 'over the bytes that a client may have under way'],
  ['what it sends', 'invalid_payload', '/event_name', 'invalid payloads'],
  ['the size of what it sends', 'payload_too_large', '', 'payloads too large'],
  ['having been paused', 'forbidden', '', 'site or client paused'],
]
for (const [why, reason, path, words] of SILENCES) {
  for (const type of JUDGES_SILENCE) {
    testLogic(`${type.name}: the silence of a site refused for ${why} says so`, async (store, t) => {
      const site = await siteUntil(store, NOW - 7 * HOUR)
      await refuse(store, site, reason, every(MINUTE, NOW - 7 * HOUR, NOW), path)
      const { status, message } = await resultOf(t, store, site, type)
      assert.equal(status, 'critical')
      assert.equal(message, `refused: ${words} since 20 Nov, 03:00 (1,260 requests, none accepted)`)
    })
  }
}

for (const type of JUDGES_SILENCE) {
  testLogic(`${type.name}: refusals of no site, or of another, explain nothing`, async (store, t) => {
    const site = await siteUntil(store, NOW - 7 * HOUR)
    const other = await siteWith(store, [])
    await refuse(store, other, 'forbidden', every(MINUTE, NOW - 7 * HOUR, NOW))
    const { status, message } = await resultOf(t, store, site, type)
    assert.equal(status, 'critical')
    assert.match(message, /^(nothing received|no events) for /)
  })
}

testLogic('a site whose first requests are all refused is called refused, and not silent', async (store, t) => {
  const site = await siteWith(store, [])
  await refuse(store, site, 'invalid_payload', [NOW - 3 * MINUTE])
  const { status, reason, message } = await resultOf(t, store, site, dataFreshness)
  assert.deepEqual([status, reason], ['ok', 'no_data'])
  assert.equal(message, 'refused: invalid payloads since 20 Nov, 09:57 (3 requests, none accepted)')
})

testLogic('refusals beside events that come change nothing', async (store, t) => {
  const site = await siteUntil(store, NOW + MINUTE)
  await refuse(store, site, 'invalid_payload', REFUSED)
  const { status, message } = await resultOf(t, store, site, dataFreshness)
  assert.deepEqual([status, message], ['ok', 'last event just now'])
})

testLogic('refusals that ended do not explain the silence after them', async (store, t) => {
  const site = await siteUntil(store, NOW - 7 * HOUR)
  await refuse(store, site, 'invalid_payload', every(MINUTE, NOW - 7 * HOUR, NOW - 30 * MINUTE))
  assert.match((await resultOf(t, store, site, dataFreshness)).message, /^nothing received for /)
})
