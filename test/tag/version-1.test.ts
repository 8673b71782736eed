import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWarning, lintTemplate, runTemplateTests } from '../../tag/sandbox/index.ts'
import { type Counts, countsOf, reportedCounts } from './counts.ts'
import {
  fieldsFor,
  fireMany,
  INSTANCES,
  openContainer,
  overviewOf,
  readFirstTemplate,
  startMonitored,
} from './support.ts'
import type { Fired } from './traffic.ts'

const EVENTS = 2_000
const BATCH_SIZE = 70

/** What the first version knew nothing of: consent, and how vendors answer. */
const LATER = /^(?:consent|denied|answer) /

const countsOfFirst = (fired: readonly Fired[], sendMode: 'per_event' | 'batched'): Counts =>
  new Map([...countsOf(fired, sendMode)].filter(([key]) => !LATER.test(key)))

test('the first version of the template still is one that a container takes', async () => {
  const template = await readFirstTemplate()
  assert.deepEqual(
    lintTemplate(template).filter((finding) => !isWarning(finding)),
    [],
  )
  const results = runTemplateTests(template)
  assert.ok(results.length > 20)
  assert.deepEqual(
    results.filter(({ passed }) => !passed),
    [],
  )
})

for (const [sendMode, requests] of [
  ['per_event', EVENTS],
  // What an instance holds at the end goes with one more event of its own.
  ['batched', INSTANCES * Math.floor(EVENTS / INSTANCES / BATCH_SIZE) + INSTANCES],
] as const) {
  test(`a container with the first version of the template is still counted exactly: ${sendMode}`, async (t) => {
    const monitored = await startMonitored(t)
    const { clock, api, site } = monitored
    const container = await openContainer(t, clock, api.url, {
      template: await readFirstTemplate(),
      fields: fieldsFor(site.ingest_key, { sendMode, batchSize: BATCH_SIZE, maxBatchAgeSeconds: 60 }),
      instances: INSTANCES,
    })
    const all: Fired[] = []
    const keep = (fired: Fired) => void all.push(fired)
    await fireMany(container, sendMode === 'batched' ? EVENTS - INSTANCES : EVENTS, 21, keep)
    if (sendMode === 'batched') {
      clock.advance(60_000)
      await fireMany(container, INSTANCES, 22, keep)
    }
    assert.equal(all.length, EVENTS)
    assert.equal(container.sent.requests, requests)
    assert.equal(container.sent.accepted, requests)
    const overview = await overviewOf(monitored)
    assert.deepEqual(reportedCounts(overview), countsOfFirst(all, sendMode))
    assert.deepEqual(overview.rejections, {})
  })
}
