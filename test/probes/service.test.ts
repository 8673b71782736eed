import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import type { ProbeRecord, ResultRecord } from '../../src/probes/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, postgres, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

testPerEngine(
  'a running service runs probes automatically and shows how late they began',
  async (engine, t) => {
    const api = await startTestService(t, systemClock, await placeFor(engine, t))
    const { store } = api.service
    const client = await api.newClient()
    const answer = await api.call('POST', '/api/sites?auto_probes=true', {
      client_id: client.id,
      name: 'Shop',
      url: 'https://shop.example',
    })
    const site = answer.json<{ id: string }>()
    const probes = (await api.call('GET', `/api/probes?site_id=${site.id}`)).json<ProbeRecord[]>()
    const probe = probes.find(({ probe_type }) => probe_type === 'data_freshness')
    assert.ok(probe !== undefined)
    await store.write.updateTable('probes').set({ next_run_at: Date.now() }).where('id', '=', probe.id).execute()
    const [result] = await until('a result', async () => {
      const results = (await api.call('GET', `/api/probes/${probe.id}/results`)).json<ResultRecord[]>()
      return results.length > 0 ? results : undefined
    })
    assert.equal(result?.status, 'ok')
    const metrics = (await api.call('GET', '/metrics')).text
    assert.match(metrics, /^tagwarden_probe_lag_seconds_count [1-9]\d*$/m)
    assert.match(metrics, /^tagwarden_probe_runs_total\{probe_type="data_freshness",status="unjudged"\} 1$/m)
    assert.match(metrics, /^tagwarden_loop_lag_seconds\{loop="probes"\} /m)
  },
  logicEngines,
)

test('a node that only takes events runs no probes', async (t) => {
  const api = await startTestService(t, newClock(), { ...(await placeFor(postgres, t)), ROLE: 'ingest' })
  assert.equal(api.service.worker, null)
  assert.equal((await api.call('GET', '/api/probes')).status, 404)
  assert.doesNotMatch((await api.call('GET', '/metrics')).text, /tagwarden_probe/)
})
