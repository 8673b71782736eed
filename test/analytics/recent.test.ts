import assert from 'node:assert/strict'
import { recent } from '../../src/analytics/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { reportContext } from './support.ts'

const NOW = Date.parse('2026-11-20T12:34:30Z')

testOnEveryEngine('the last 50 payloads and rejections come newest first', async (store) => {
  const site = await insertSite(store)
  const other = await insertSite(store)
  const ids = Array.from({ length: 60 }, (_, index) => index + 1)
  for (const { site_no } of [site, other]) {
    const accepted = ids.map((id) => ({
      site_no,
      id,
      accepted_at: NOW - 60_000 + id,
      payload: JSON.stringify({ event_name: `event ${id} of ${site_no}`, user_data: { has_email: true } }),
    }))
    const rejected = ids.map((id) => ({
      site_no,
      id,
      rejected_at: NOW - 60_000 + id,
      reason: 'invalid_payload',
      path: `/tags/${id}`,
    }))
    await store.write.insertInto('recent_payloads').values(accepted).execute()
    await store.write.insertInto('rejections').values(rejected).execute()
  }
  const context = reportContext(store, NOW)
  const seen = await recent(context, site, {})
  assert.equal(seen.accepted.length, 50)
  assert.deepEqual(seen.accepted[0], {
    accepted_at: NOW - 60_000 + 60,
    payload: { event_name: `event 60 of ${site.site_no}`, user_data: { has_email: true } },
  })
  assert.equal(seen.rejections.length, 50)
  assert.deepEqual(seen.rejections[1], { at: NOW - 60_000 + 59, reason: 'invalid_payload', path: '/tags/59' })

  const window = { from: NOW - 60_000 + 3, to: NOW - 60_000 + 5 }
  const inWindow = await recent(context, site, window)
  assert.deepEqual(
    inWindow.rejections.map(({ path }) => path),
    ['/tags/4', '/tags/3'],
  )
  assert.equal(inWindow.accepted.length, 2)
})
