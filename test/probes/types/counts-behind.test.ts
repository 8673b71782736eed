import assert from 'node:assert/strict'
import { isoTime, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { dataFreshness } from '../../../src/probes/types/data-freshness.ts'
import { dataVolume } from '../../../src/probes/types/data-volume.ts'
import { tagFailureRate } from '../../../src/probes/types/tag-failure-rate.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { siteWith } from './data-support.ts'
import { runType } from './run-type.ts'

testLogic('a site whose counts are behind is not called silent', async (store, t) => {
  const site = await siteWith(store, [])
  const node = { id: 'one', name: 'host:1', role: 'all', version: '1.2.3', started_at: 0, seen_at: NOW - 7 * MINUTE }
  await store.write.insertInto('nodes').values(node).execute()
  const { status, details } = await runType(t, dataFreshness, { site, store })
  assert.deepEqual([status, details.reason], ['error', 'counts_behind'])
})

for (const type of [dataFreshness, dataVolume]) {
  testOnEveryEngine(`${type.name}: while no process takes requests no site is called silent`, async (store, t) => {
    const site = await siteWith(store, [])
    // A worker lives on, so that the counts are complete; the processes that took requests are dead.
    const worker = { id: 'worker', name: 'host:1', role: 'worker', version: '1.2.3', started_at: 0, seen_at: NOW }
    await store.write.insertInto('nodes').values(worker).execute()
    const listenedUntil = async (seen_at: number) => {
      await store.write.deleteFrom('nodes').where('id', '=', 'ingest').execute()
      await store.write
        .insertInto('nodes')
        .values({ ...worker, id: 'ingest', role: 'ingest', seen_at })
        .execute()
      return runType(t, type, { site, store })
    }
    assert.equal((await listenedUntil(NOW - 2 * MINUTE)).status, 'ok')
    const { status, message, details } = await listenedUntil(NOW - 7 * MINUTE)
    assert.equal(status, 'error')
    assert.equal(message, 'No process of this service has accepted requests for 7 minutes')
    assert.deepEqual(details, { reason: 'not_listening', listened_until: isoTime(NOW - 7 * MINUTE) })
    assert.equal((await runType(t, tagFailureRate, { site, store })).status, 'ok', 'which looks for no silence')
  })
}

testLogic('data probes do not judge by a database that is behind', async (store, t) => {
  const site = await siteWith(store, [])
  const seenAt = async (seen_at: number) => {
    await store.write.deleteFrom('nodes').execute()
    const node = { id: 'one', name: 'host:1', role: 'all', version: '1.2.3', started_at: 0, seen_at }
    await store.write.insertInto('nodes').values(node).execute()
    return runType(t, tagFailureRate, { site, store })
  }
  assert.equal((await seenAt(NOW - 10 * SECOND)).status, 'ok')
  assert.equal((await seenAt(NOW - 2 * MINUTE)).status, 'ok')
  const { status, message, details } = await seenAt(NOW - 7 * MINUTE)
  assert.deepEqual([status, message], ['error', 'The counts are 7 minutes behind what was received'])
  assert.deepEqual(details, {
    reason: 'counts_behind',
    complete_until: isoTime(NOW - 7 * MINUTE),
    behind_seconds: 420,
  })
})
