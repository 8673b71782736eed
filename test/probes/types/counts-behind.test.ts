import assert from 'node:assert/strict'
import { isoTime, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { dataFreshness } from '../../../src/probes/types/data-freshness.ts'
import { tagFailureRate } from '../../../src/probes/types/tag-failure-rate.ts'
import { testOnEveryEngine } from '../../support/engines.ts'
import { NOW } from '../support.ts'
import { siteWith } from './data-support.ts'
import { runType } from './run-type.ts'

testOnEveryEngine('a site whose counts are behind is not called silent', async (store, t) => {
  const site = await siteWith(store, [])
  const node = { id: 'one', name: 'host:1', role: 'all', version: '1.2.3', started_at: 0, seen_at: NOW - 7 * MINUTE }
  await store.write.insertInto('nodes').values(node).execute()
  const { status, details } = await runType(t, dataFreshness, { site, store })
  assert.deepEqual([status, details.reason], ['error', 'counts_behind'])
})

testOnEveryEngine('data probes do not judge by a database that is behind', async (store, t) => {
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
  assert.deepEqual([status, message], ['error', 'Cannot judge: the counts are 7 minutes behind what was received'])
  assert.deepEqual(details, {
    reason: 'counts_behind',
    complete_until: isoTime(NOW - 7 * MINUTE),
    behind_seconds: 420,
  })
})
