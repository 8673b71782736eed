import assert from 'node:assert/strict'
import { readConfig } from '../../src/config.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { migrate, openStore, type Store } from '../../src/store/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { enginesInTurn, placeFor, sqlite, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { sessionsOver } from '../../testkit/postgres/databases.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { insertClient, insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'
import { passTime } from '../alerts/incidents/crash-world.ts'
import { mailServer } from './email/smtp-server.ts'

const WAIT_MS = 30 * MINUTE

testPerEngine(
  'a warning that waits survives a kill -9, and is sent at once by a server that starts after it was due',
  async (engine, t) => {
    const folder = await tempDir(t)
    const place = engine === sqlite ? { DATA_DIR: folder } : await placeFor(engine, t)
    const { port, mails } = await mailServer(t)
    const environment = {
      ...place,
      OUTBOUND_ALLOW: '127.0.0.1',
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      SMTP_FROM: 'alerts@tagwarden.example',
    }
    const url = await startAnswering(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('<html>another server</html>')
    })
    const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
      if (engine !== sqlite) await sessionsOver(place.DATABASE_URL ?? '')
      const store = await openStore(readConfig(environment), (error) => t.diagnostic(error.message))
      const done = await work(store)
      await store.close()
      return done
    }
    const probeId = await withStore(async (store) => {
      await migrate(store.admin, store.columnTypes)
      const client = await insertClient(store, { email: 'ops@acme.example' })
      const site = await insertSite(store, { client_id: client.id, tag_server_url: url })
      const probe = { probe_type: 'http_health', name: 'health', interval_seconds: 86_400, timeout_ms: 60_000 }
      const { id } = await insertProbe(store, site.id, { ...probe, next_run_at: Date.now() + 1_000 * MINUTE })
      return id
    })
    const first = await startServerProcess(t, folder, environment)
    const { call } = apiClient(first.url)
    // On a machine that is loaded a database may be too busy at first.
    await until('the probe has run', async () => {
      const { status } = await call('POST', `/api/probes/${probeId}/run`)
      assert.ok(status === 200 || status === 503, `${status}`)
      return status === 200 || undefined
    })
    await first.end('SIGKILL')
    const [waiting, ...others] = await withStore((store) => store.read.selectFrom('deliveries').selectAll().execute())
    assert.deepEqual([waiting?.kind, waiting?.state, others], ['opened', 'pending', []])
    assert.equal((waiting?.not_before ?? 0) - (waiting?.created_at ?? 0), WAIT_MS)
    assert.equal(mails.length, 0)

    await withStore(passTime)
    const second = await startServerProcess(t, folder, environment)
    await until('the warning has arrived', () => Promise.resolve(mails.length > 0 || undefined))
    assert.match(mails[0]?.raw ?? '', /WARNING/)
    assert.equal(await second.end('SIGTERM'), 0)
    assert.equal(mails.length, 1)
  },
  enginesInTurn,
)
