import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsFor, openContainer, overviewOf, startMonitored } from './support.ts'

const TAGS = [{ id: 31, status: 'success', executionTime: 5 }] as const

interface Recent {
  accepted: { preview?: boolean; container: { environment: string } }[]
}

for (const sendMode of ['per_event', 'batched']) {
  for (const [otherEnvironments, counted, received] of [
    ['count', 5, 5],
    ['mark', 2, 5],
    ['skip', 2, 2],
  ] as const) {
    test(`of a live and a staging server ${counted} of 5 events count: ${otherEnvironments}, ${sendMode}`, async (t) => {
      const monitored = await startMonitored(t)
      const { clock, api, site } = monitored
      const fields = fieldsFor(site.ingest_key, { sendMode, batchSize: 1, otherEnvironments })
      for (const [environment, events] of [
        ['Live', 2],
        ['Staging', 3],
      ] as const) {
        const container = await openContainer(t, clock, api.url, { fields, environment })
        for (let n = 0; n < events; n++) await container.fire({ event_name: 'page_view' }, TAGS)
        await container.idle()
      }
      assert.equal((await overviewOf(monitored)).total_events, counted)
      const { accepted } = (await api.call('GET', `/api/monitoring/sites/${site.id}/recent`)).json<Recent>()
      assert.equal(accepted.length, received)
      const marked = accepted.filter(({ preview }) => preview === true)
      assert.deepEqual(
        marked.map(({ container }) => container.environment),
        otherEnvironments === 'mark' ? ['Staging', 'Staging', 'Staging'] : [],
      )
    })
  }
}

test('where nothing is known of an environment, or the name of the live one is left empty, live events count', async (t) => {
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  const fields = fieldsFor(site.ingest_key, { otherEnvironments: 'skip', liveEnvironment: ' ' })
  for (const environment of ['', 'LIVE']) {
    const container = await openContainer(t, clock, api.url, { fields, environment })
    await container.fire({ event_name: 'page_view' }, TAGS)
    await container.idle()
  }
  assert.equal((await overviewOf(monitored)).total_events, 2)
})
