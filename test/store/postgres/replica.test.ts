import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../../src/lib/index.ts'
import { migrate, type Store } from '../../../src/store/index.ts'
import { eventPayload } from '../../../testkit/deltas.ts'
import { inTurn } from '../../../testkit/length.ts'
import { startTestService } from '../../../testkit/service.ts'
import { until } from '../../../testkit/until.ts'
import { asAdmin, startPair } from './standby.ts'
import { journalRow, journalSeqs, newDatabase, ofKind, openOn } from './support.ts'

async function isStandby(db: Store['read']): Promise<boolean | undefined> {
  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db)
  return rows[0]?.standby
}

const rowsOf = async (db: Store['read']) => (await db.selectFrom('journal').select('seq').execute()).length

test(
  'reports are read from the replica, everything else from the primary, and neither holds up the other',
  inTurn(2, 3),
  async (t) => {
    const { primary, standby } = await startPair(t)
    // A standby refuses all queries of a session that keeps this default.
    await asAdmin(primary.adminUrl, 'alter database tagwarden set default_transaction_isolation = serializable')
    const store = await openOn(t, primary.url, { readUrl: standby.url })
    await migrate(store.admin, store.columnTypes)
    assert.equal(await isStandby(store.reports), true)
    for (const db of [store.read, store.write, store.admin]) assert.equal(await isStandby(db), false)

    const replicated = () =>
      until('the replica has it', async () =>
        rowsOf(store.reports).then(
          async (count) => (count === (await rowsOf(store.read)) ? true : undefined),
          // The migration has not come through yet.
          () => undefined,
        ),
      )
    await store.batch([journalRow(store, 1)])
    await replicated()
    await asAdmin(standby.adminUrl, 'select pg_wal_replay_pause()')
    await until('it stands still', async () => {
      const [row] = await asAdmin(standby.adminUrl, 'select pg_get_wal_replay_pause_state() as state')
      return row?.state === 'paused' ? true : undefined
    })
    await store.batch([journalRow(store, 2)])
    assert.deepEqual(await journalSeqs(store), [1, 2])
    assert.equal(await rowsOf(store.reports), 1)
    await asAdmin(standby.adminUrl, 'select pg_wal_replay_resume()')
    await replicated()

    await standby.stop()
    await assert.rejects(rowsOf(store.reports), ofKind('unavailable', /ECONNREFUSED|terminat/))
    await store.batch([journalRow(store, 3)])
    assert.deepEqual(await journalSeqs(store), [1, 2, 3])
    await standby.start()
    await replicated()
    assert.equal(await rowsOf(store.reports), 3)
  },
)

test('while the replica is unavailable reports answer 503, and ingest and management go on', async (t) => {
  const url = await newDatabase(t)
  const away = new URL(url)
  away.port = '1'
  const api = await startTestService(t, systemClock, { DATABASE_URL: url, DATABASE_READ_URL: away.href })
  const site = await api.newSite(await api.newClient())
  assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
  const report = await api.call('GET', `/api/monitoring/sites/${site.id}/overview`)
  assert.equal(report.status, 503)
  assert.equal(report.json<{ error: string }>().error, 'unavailable')
  assert.equal((await api.call('GET', `/api/sites/${site.id}`)).status, 200)
})
