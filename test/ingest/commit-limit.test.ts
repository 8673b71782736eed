import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupCommit, type Outcome } from '../../src/ingest/group-commit.ts'
import { JournalFolder } from '../../src/ingest/journal-folder.ts'
import { systemClock } from '../../src/lib/index.ts'
import { Folder } from '../../src/rollups/index.ts'
import { migrate } from '../../src/store/index.ts'
import { asAdmin } from '../store/postgres/standby.ts'
import { openOn } from '../store/postgres/support.ts'
import { until } from '../support/api.ts'
import { eventPayload, totalEvents } from '../support/deltas.ts'
import { startPostgres } from '../support/postgres.ts'

/** Longer than a test may take: what is not cut off by the commit's own limit never ends. */
const NEVER = 3_600_000

test('a commit that no standby confirms fails in time, with a key and without, and what lands later is counted once', async (t) => {
  const server = await startPostgres(t, { durable: true })
  const limits = { commit: 500, statement: NEVER, silence: NEVER, suspicion: NEVER }
  const store = await openOn(t, server.url, { limits, onError: () => undefined })
  await migrate(store.admin, store.columnTypes)
  const folder = new JournalFolder(store, new Folder(store, () => 'client'), systemClock, 'node')
  const commits = new GroupCommit(store, systemClock, 'node', {
    onSettled: (seq, error) => folder.onSettled(seq, error),
  })
  const send = async (idempotencyKey?: string) => {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    commits.submit({
      siteNo: 1,
      payload: eventPayload({ timestamp_ms: Date.now() }),
      idempotencyKey,
      settle: resolve,
    })
    const outcome = await promise
    commits.resume()
    return outcome
  }
  const requireStandby = async (name: string) => {
    await asAdmin(server.adminUrl, `alter system set synchronous_standby_names = '${name}'`)
    await asAdmin(server.adminUrl, 'select pg_reload_conf()')
  }
  assert.equal(await send('first'), 'committed')
  await folder.fold()

  await requireStandby('nobody')
  assert.equal(await send(), 'failed')
  assert.equal(await send('second'), 'failed')
  await folder.fold()
  assert.equal(await totalEvents(store, 1), 1)

  // Both were on disk all the while, and are seen from now on.
  await requireStandby('')
  await until('the rows have landed', async () => {
    const rows = await store.read.selectFrom('journal').select('seq').execute()
    return rows.length === 2 ? true : undefined
  })
  assert.equal(await send('second'), 'duplicate')
  assert.equal(await send('first'), 'duplicate')
  await folder.fold()
  assert.equal(await totalEvents(store, 1), 3)
})
