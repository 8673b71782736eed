import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pino } from 'pino'
import { systemClock } from '../../src/lib/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

test('while the store accepts no writes ingest answers 500 and /ready 503; when it does again all goes on', async (t) => {
  const dataDir = await tempDir(t)
  const logged: string[] = []
  const log = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) })
  const api = await startTestService(t, systemClock, { DATA_DIR: dataDir }, log)
  const site = await api.newSite(await api.newClient({ events_per_month: 3 }))
  const send = () => api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))
  const ready = async () => (await api.call('GET', '/ready')).status
  assert.equal((await send()).status, 200)
  assert.equal(await ready(), 200)

  // Another program that keeps SQLite's write lock: the engine refuses every commit with a real error.
  const blocker = new DatabaseSync(join(dataDir, 'tagwarden.db'))
  // Refused while the service is in the middle of a write of its own.
  const block = () =>
    until('the write lock', () => {
      try {
        blocker.exec('begin immediate')
        return true
      } catch (thrown) {
        assert.match(String(thrown), /database is locked/)
        return undefined
      }
    })
  const becomesReady = () => until('ready without a request', async () => ((await ready()) === 200 ? true : undefined))
  await block()
  await api.service.membership.beat()
  await until('ready says so without a request', async () =>
    (await api.call('GET', '/ready')).text.includes('the store does not accept writes') ? true : undefined,
  )
  blocker.exec('rollback')
  await becomesReady()

  await block()
  const refused = await send()
  assert.equal(refused.status, 500)
  assert.deepEqual(refused.json(), { error: 'internal_error' })
  assert.equal(await ready(), 503)
  assert.match((await api.call('GET', '/ready')).text, /does not accept writes/)

  blocker.exec('rollback')
  blocker.close()
  await becomesReady()
  // Which write failed first is a matter of chance: the request's, or one of the service's own.
  assert.ok(logged.some((message) => message.endsWith(' failed')))
  assert.equal(logged.filter((message) => message === 'the store accepts writes again').length, 2)
  // The refused request was given back to the quota of three: two more fit, a third does not.
  assert.equal((await send()).status, 200)
  assert.equal((await send()).status, 200)
  assert.equal((await send()).status, 429)
  await api.service.ingest.flush()
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=2`)
  assert.equal(overview.json<{ total_events: number }>().total_events, 3)
})
