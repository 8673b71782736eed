import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { startPostgres } from '../../testkit/postgres/databases.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

/** More than a pool has connections, so that some would have to wait if they were let in. */
const REQUESTS_AT_ONCE = 200

test('while PostgreSQL is unavailable ingest answers 500, /ready says why, and all goes on when it is back', async (t) => {
  const database = await startPostgres(t, { durable: true })
  const api = await startTestService(t, systemClock, { DATABASE_URL: database.url })
  const site = await api.newSite(await api.newClient())
  const send = async () => (await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))).status
  const ready = () => api.call('GET', '/ready')
  assert.equal(await send(), 200)
  assert.equal((await ready()).status, 200)

  await database.stop('kill')
  const answers = await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, send))
  assert.deepEqual(new Set(answers), new Set([500]))
  assert.equal(api.service.ingest?.status().waiting, 0)
  const { status, text } = await ready()
  assert.equal(status, 503)
  assert.match(text, /the store does not accept writes: .*(refused|terminated)/i)
  // Another node may have made it meanwhile.
  const unknown = async () => (await api.ingest({ ...site, ingest_key: 'unknown' }, {})).status
  await until('an unknown key is no longer refused for good', async () =>
    (await unknown()) === 503 ? true : undefined,
  )

  await database.start()
  await until('ready again without a request', async () => ((await ready()).status === 200 ? true : undefined))
  assert.equal(await send(), 200)
  await until('an unknown key is known to be wrong', async () => ((await unknown()) === 401 ? true : undefined))
  // A change made after the restart still reaches ingest: the listener has reconnected, or the poll has seen it.
  assert.equal((await api.call('POST', `/api/sites/${site.id}/revoke-key`)).status, 200)
  await until('the revoked key is refused', async () => ((await send()) === 403 ? true : undefined))
  await api.service.ingest?.flush()
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=2`)
  assert.equal(overview.json<{ total_events: number }>().total_events, 2)
})
