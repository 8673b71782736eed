import assert from 'node:assert/strict'
import { Shedding } from '../../src/ingest/shedding.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { listen, newCommits, payload } from './endpoint-support.ts'

/** Submissions that may wait for a commit, and as many that a held-up commit may have taken before. */
const MORE_THAN_WAIT = 40_001

const refusals = (store: Store, { site_no }: SiteRow) =>
  store.read.selectFrom('rejections').select(['reason', 'path']).where('site_no', '=', site_no).execute()

const counted = (store: Store, { site_no }: SiteRow) =>
  store.read.selectFrom('rejection_counts').select(['reason', 'total']).where('site_no', '=', site_no).execute()

testOnEveryEngine('a request refused because of overload is kept with the refusals of its site', async (store, t) => {
  const site = await insertSite(store)
  const shedding = new Shedding(performance.now() - 1_000)
  const { send, samples } = await listen(t, store, { shedding })
  // So many requests for so long without a pause, up to now: what comes within a second is still too much.
  for (let ms = 600; ms > 0; ms--) shedding.admits(performance.now() - ms)
  const statuses = [await send(site), await send(site), await send(site), await send(site)]
  await samples.flush()
  const refused = statuses.filter((status) => status === 503).length
  assert.ok(refused > 0, `${statuses}`)
  assert.deepEqual(await counted(store, site), [{ reason: 'unavailable', total: refused }])
  assert.deepEqual((await refusals(store, site))[0], { reason: 'unavailable', path: 'requests at once' })
})

testLogic(
  'a request that finds no room to wait for a commit is kept with the refusals of its site',
  async (store, t) => {
    const site = await insertSite(store)
    const held = Promise.withResolvers<void>()
    const commits = newCommits(steppingStore(store, () => held.promise))
    const waiting = { siteNo: site.site_no, idempotencyKey: undefined, bytes: 200, settle: () => undefined }
    for (let i = 0; i < MORE_THAN_WAIT; i++) commits.submit(waiting, payload)
    const { send, samples } = await listen(t, store, { commits })
    assert.equal(await send(site), 503)
    held.resolve()
    await commits.drain()
    await samples.flush()
    assert.deepEqual(await refusals(store, site), [{ reason: 'unavailable', path: 'requests waiting' }])
  },
)

testOnEveryEngine(
  'wrong keys are counted for no site, by kind and apart from requests without any',
  async (store, t) => {
    const site = await insertSite(store)
    const { send, samples } = await listen(t, store)
    assert.deepEqual(
      [await send({ ...site, ingest_key: 'wrong' }), await send({ ...site, ingest_key: '' })],
      [401, 401],
    )
    await samples.flush()
    const all = await store.read.selectFrom('rejection_counts').select(['site_no', 'reason', 'total']).execute()
    assert.deepEqual(
      all.toSorted((a, b) => (a.reason < b.reason ? -1 : 1)),
      [
        { site_no: 0, reason: 'malformed_key', total: 1 },
        { site_no: 0, reason: 'no_key', total: 1 },
      ],
    )
    assert.deepEqual(await refusals(store, site), [])
  },
)
