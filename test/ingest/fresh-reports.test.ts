import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { laneOf, startOfLane } from '../../src/journal/lanes.ts'
import { SECOND } from '../../src/lib/index.ts'
import { NOW, TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { startTestService } from '../../testkit/service.ts'

/** A node so busy that it folds no lane at once, and a site of which one event was accepted. */
async function serveBusy(t: TestContext) {
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock)
  const { folder } = api.service.ingest
  const lane = laneOf(1, 64)
  const siteNos = Array.from({ length: 2_000 }, (_, index) => 1_000_000 + index)
  let rows = 0
  const beBusy = () => {
    // Their rows are in no journal: they are only known to wait.
    folder.onSettled([{ lane, seq: startOfLane(lane) + ++rows, siteNos, characters: 0 }])
    assert.equal(folder.isBusy, true)
  }
  beBusy()
  const site = await api.newSite(await api.newClient())
  assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: NOW }))).status, 200)
  await folder.foldDue()
  return { api, clock, folder, site, beBusy }
}

test('a report of a busy node shows what was accepted a second ago', async (t) => {
  const { api, clock, site } = await serveBusy(t)
  const total = async () => {
    const path = `/api/monitoring/sites/${site.id}/overview?hours=1`
    return (await api.ask<{ total_events: number }>('GET', path)).total_events
  }
  assert.equal(await total(), 0, 'what came in this second is not folded for each report')
  clock.advance(SECOND)
  assert.equal(await total(), 1)
})

test('every answer that shows counts brings them up to date: reports, the overview, reconciliation, a file', async (t) => {
  const paths = (id: string) => [
    `/api/monitoring/sites/${id}/overview?hours=1`,
    `/api/monitoring/sites/${id}/timeseries?metric=events&hours=1`,
    `/api/monitoring/sites/${id}/export.csv?metric=events&hours=1`,
    `/api/monitoring/sites/${id}/matrix?hours=1`,
    `/api/monitoring/sites/${id}/fields?hours=1`,
    `/api/monitoring/sites/${id}/tags/nothing?hours=1`,
    `/api/sites/${id}/reconciliation?source=shop&event=purchase`,
    '/api/dashboard/overview',
    '/api/tags/sites?vendor=meta',
  ]
  const { api, clock, folder, site, beBusy } = await serveBusy(t)
  const siteNo = 1
  for (const path of paths(site.id)) {
    assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: NOW }))).status, 200)
    beBusy()
    clock.advance(SECOND)
    await folder.foldDue()
    assert.notEqual(folder.oldestUnfoldedOf(siteNo), null, `before ${path}`)
    const { status } = await api.call('GET', path)
    assert.ok(status === 200 || status === 404, `${status} ${path}`)
    assert.equal(folder.oldestUnfoldedOf(siteNo), null, path)
  }
})
