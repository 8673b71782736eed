import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { CommitOutcome } from '../../src/journal/group.ts'
import { GroupCommit } from '../../src/journal/group-commit.ts'
import { Folder } from '../../src/journal/index.ts'
import { JournalFolder } from '../../src/journal/journal-folder.ts'
import { systemClock } from '../../src/lib/index.ts'
import { migrate } from '../../src/store/index.ts'
import { eventPayload, totalEvents } from '../../testkit/deltas.ts'
import { startPostgres } from '../../testkit/postgres/databases.ts'
import { until } from '../../testkit/until.ts'
import { asAdmin } from '../store/postgres/standby.ts'
import { openOn } from '../store/postgres/support.ts'

/** Longer than this test may take: what is not cut off by the commit's own limit is too late. */
const NEVER = 120_000

test('a commit that no standby confirms fails in time, with a key and without, and what lands later is counted once', {
  timeout: 60_000,
}, async (t) => {
  const server = await startPostgres(t, { durable: true })
  const limits = { commit: 500, statement: NEVER, silence: NEVER, suspicion: NEVER }
  const store = await openOn(t, server.url, { limits, onError: () => undefined })
  await migrate(store.admin, store.columnTypes)
  const folder = new JournalFolder(store, new Folder(store, () => 'client'), systemClock, 'node')
  const commits = new GroupCommit(store, systemClock, 'node', {
    laneOf: (siteNo) => folder.laneOf(siteNo),
    onSettled: (rows, error) => folder.onSettled(rows, error),
  })
  const send = async (idempotencyKey?: string) => {
    const { promise, resolve } = Promise.withResolvers<CommitOutcome>()
    const payload = eventPayload({ timestamp_ms: Date.now() })
    commits.submit({ siteNo: 1, idempotencyKey, bytes: 200, settle: resolve }, payload)
    const outcome = await promise
    commits.resume()
    return outcome
  }
  assert.equal(await send('first'), 'committed')
  await folder.fold()

  await requireStandby(server.adminUrl, 'nobody')
  await until('commits wait for the standby', () => commitWaits(server.adminUrl))
  assert.equal(await send(), 'failed')
  assert.equal(await send('second'), 'failed')
  // Not folded here: when the session of such a commit is ended its row shows, and the fold's own commit would wait as well.
  assert.equal(await totalEvents(store, 1), 1)

  // Both were on disk all the while, and are seen from now on.
  await requireStandby(server.adminUrl, '')
  await until('the rows have landed', async () => {
    const rows = await store.read.selectFrom('journal').select('seq').execute()
    return rows.length === 2 ? true : undefined
  })
  assert.equal(await send('second'), 'duplicate')
  assert.equal(await send('first'), 'duplicate')
  await folder.fold()
  assert.equal(await totalEvents(store, 1), 3)
})

async function requireStandby(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, `alter system set synchronous_standby_names = '${name}'`)
  await asAdmin(adminUrl, 'select pg_reload_conf()')
}

/** Whether the server requires the standby already: it does some time after the setting was read again. */
async function commitWaits(adminUrl: string): Promise<true | undefined> {
  // The server's own limit of a statement does not hold for the wait of its commit.
  const client = new pg.Client({ connectionString: adminUrl, query_timeout: 500 })
  await client.connect()
  try {
    await client.query("select pg_logical_emit_message(true, 'test', '')")
    return undefined
  } catch (thrown) {
    assert.match(String(thrown), /timeout/)
    return true
  } finally {
    // Its session waits on until no standby is required any more.
    client.end().catch(() => undefined)
  }
}
