import assert from 'node:assert/strict'
import { HOUR } from '../../../src/lib/index.ts'
import { imageVersion } from '../../../src/probes/types/image-version.ts'
import { metaQuality } from '../../../src/probes/types/meta-quality.ts'
import { newClock } from '../../../testkit/clock.ts'
import { testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { httpServer, testOutbound } from '../../outbound/support.ts'
import { openNode, PROBE_SURROUNDINGS, probeRow, resultsOf, runDue } from '../support.ts'
import { DATASET, metaServer, quality, TOKEN } from './meta-server.ts'

const outbound = testOutbound('127.0.0.0/8')

testOnEveryEngine(
  'each event that Meta matches badly is a subject of its own, and the token is in the settings alone',
  async (store, t) => {
    const site = await insertSite(store)
    const config = JSON.stringify({ dataset_id: DATASET, access_token: TOKEN })
    const probe = await insertProbe(store, site.id, { probe_type: 'meta_quality', config })
    const low = { event_match_quality: { composite_score: 2.5 } }
    const meta = await metaServer(t, [quality('Purchase', low), quality('Lead \u0000 é', low), quality('Search')])
    const settings = { ...PROBE_SURROUNDINGS.settings, ...meta.settings }
    const node = await openNode(t, store, newClock(), [metaQuality], { outbound, settings })
    await runDue(node)
    const [result] = await resultsOf(store, probe.id)
    assert.equal(result?.status, 'critical')
    const { config: _, ...kept } = await probeRow(store, probe.id)
    assert.deepEqual(Object.keys(JSON.parse(kept.subject_statuses) as object).sort(), [
      'event:"Lead \\u0000 é",field:"match_quality"',
      'event:"Purchase",field:"match_quality"',
    ])
    assert.doesNotMatch(JSON.stringify([result, kept, node.errors]), /EAAB/)
  },
)

testOnEveryEngine('an image that was replaced since the last run is marked as a deploy', async (store, t) => {
  const clock = newClock()
  let version = '4.3.0'
  const { port } = await httpServer(t, (_request, response) => response.end(version))
  const site = await insertSite(store)
  const config = JSON.stringify({ version_url: `http://127.0.0.1:${port}/` })
  const probe = await insertProbe(store, site.id, { probe_type: 'image_version', config, interval_seconds: 3_600 })
  const node = await openNode(t, store, clock, [imageVersion], { outbound })
  const markers = () =>
    store.read.selectFrom('deploy_markers').select(['source', 'from_version', 'to_version']).execute()
  await runDue(node)
  assert.deepEqual(await markers(), [])
  version = 'nothing'
  clock.advance(HOUR)
  await runDue(node)
  version = '4.4.0'
  clock.advance(HOUR)
  await runDue(node)
  assert.deepEqual(
    (await resultsOf(store, probe.id)).map(({ status }) => status),
    ['ok', 'error', 'ok'],
  )
  assert.deepEqual(await markers(), [{ source: 'tag server image', from_version: '4.3.0', to_version: '4.4.0' }])
})
