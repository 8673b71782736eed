import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { newOrderedId } from '../../src/lib/index.ts'
import { migrate, migrationState, openStore, type Store } from '../../src/store/index.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { type ApiClient, apiClient } from '../../testkit/api.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { engines, postgres, type TestEngine, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { freePort } from '../../testkit/listeners.ts'
import { createDatabase } from '../../testkit/postgres/databases.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'

/** What the version before had, which knew every step but the newest. */
const OLD_STEPS = migrations.slice(0, -1)
const NEWEST = migrations.at(-1)?.name ?? ''
const SENDERS = 12
/** Acknowledged by the old version and not yet in its reports when it stopped. */
const OLD_EVENTS = 500
const ENOUGH = amount(120, 400)
/** Before a sender tries again: a dozen of them ask a port where nothing listens yet 300 times a second, and leave the machine to what starts there. */
const AGAIN_MS = 40

/** A place with the schema of the version before. Removed after all processes of the test have ended. */
async function oldPlace(engine: TestEngine, t: TestContext): Promise<Record<string, string>> {
  if (engine.name === 'SQLite') return { DATA_DIR: await tempDir(t) }
  const { url, drop } = await createDatabase({ isMigrated: false })
  t.after(() => t.after(drop))
  return { DATABASE_URL: url }
}

async function withStore<T>(environment: Record<string, string>, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(readConfig(environment), (error) => assert.fail(error))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** What the version before leaves: its schema, a site, and counts in its journal under the name of a node that is gone. */
const leaveOldData = (environment: Record<string, string>) =>
  withStore(environment, async (store) => {
    await migrate(store.admin, store.columnTypes, OLD_STEPS)
    const site = await insertSite(store, { name: 'old shop' })
    const now = Date.now()
    const payloads = Array.from({ length: OLD_EVENTS }, () => eventPayload({ timestamp_ms: now, event_name: 'old' }))
    await writeJournal(store, newOrderedId(now), 1, deltaOf(site.site_no, payloads, now))
    const { pending } = await migrationState(store.read)
    assert.deepEqual(pending, [NEWEST])
    return site
  })

/** Senders that try an event again, with the same key, until it is answered 200, as `docs/ingest.md` asks of them. */
function startSenders(t: TestContext, urls: readonly string[], ingestKey: string) {
  let acknowledged = 0
  let refused = 0
  let isOver = false
  let isTestOver = false
  // One that failed would keep its process, as nothing answers any more.
  t.after(() => {
    isOver = true
    isTestOver = true
  })
  const sender = async (_: unknown, n: number) => {
    for (let event = 0; !isOver; event++) {
      const body = JSON.stringify(eventPayload({ timestamp_ms: Date.now(), event_name: 'new' }))
      const headers = {
        'content-type': 'application/json',
        'x-service-key': ingestKey,
        'idempotency-key': `sender-${n}-event-${event}`,
      }
      for (let attempt = n; ; attempt++) {
        const url = urls[attempt % urls.length] ?? ''
        const status = await fetch(`${url}/ingest`, { method: 'POST', headers, body }).then(
          (answer) => answer.text().then(() => answer.status),
          () => 0,
        )
        if (isTestOver) return
        if (status === 200) break
        // Nothing listens, or it cannot take it yet. Everything else would be an answer that the sender gives up on.
        assert.ok(status === 0 || status >= 500, `answered ${status}`)
        refused++
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
      acknowledged++
    }
  }
  const done = Promise.all(Array.from({ length: SENDERS }, sender))
  return {
    acknowledged: () => acknowledged,
    refused: () => refused,
    async stop() {
      isOver = true
      await done
    },
  }
}

async function countsOf(api: ApiClient, siteId: string): Promise<Record<string, number>> {
  const answer = await api.call('GET', `/api/monitoring/sites/${siteId}/overview?hours=2`)
  assert.equal(answer.status, 200, answer.text)
  const { events } = answer.json<{ events: { event_name: string; total: number }[] }>()
  return Object.fromEntries(events.map(({ event_name, total }) => [event_name, total]))
}

testPerEngine(
  'a new version starts on the schema of the one before while senders hammer its port: nothing is lost, old or new',
  async (engine, t) => {
    const environment = await oldPlace(engine, t)
    const site = await leaveOldData(environment)
    // On PostgreSQL several nodes start at the same moment, and one of them has to migrate.
    const ports = engine.name === 'SQLite' ? [await freePort()] : [await freePort(), await freePort()]
    const senders = startSenders(
      t,
      ports.map((port) => `http://127.0.0.1:${port}`),
      site.ingest_key,
    )
    await until('senders are refused', () => (senders.refused() > SENDERS ? true : undefined))
    assert.equal(senders.acknowledged(), 0)

    const folder = await tempDir(t)
    const nodes = await Promise.all(
      ports.map((port) => startServerProcess(t, folder, { ...environment, PORT: String(port) })),
    )
    await until('much is acknowledged', () => (senders.acknowledged() > ENOUGH ? true : undefined))
    await senders.stop()
    const expected = { new: senders.acknowledged(), old: OLD_EVENTS }
    for (const node of nodes) {
      const api = apiClient(node.url)
      await until('all is in the reports', async () => {
        const counts = await countsOf(api, site.id)
        return (counts.new ?? 0) + (counts.old ?? 0) >= expected.new + expected.old ? true : undefined
      })
      assert.deepEqual(await countsOf(api, site.id), expected)
    }
    for (const node of nodes) assert.equal(await node.end('SIGTERM'), 0)
    const state = await withStore(environment, (store) => migrationState(store.read))
    assert.deepEqual([state.pending, state.unknown, state.taken.at(-1)], [[], [], NEWEST])
  },
  // Where several nodes start at once there is more to go wrong.
  amount(0, 1) === 1 ? engines : [postgres],
)
