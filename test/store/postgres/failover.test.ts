import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { migrate, type Store } from '../../../src/store/index.ts'
import { inTurn } from '../../../testkit/length.ts'
import { until } from '../../../testkit/until.ts'
import { asAdmin, dataFolderOf, demote, STANDBY, startPair } from './standby.ts'
import { journalRow, journalSeqs, ofKind, openOn } from './support.ts'

const QUICK = { poll: 50, reconnect: 50 }

const portOf = (url: string): number => Number(new URL(url).port)

async function portIn(db: Store['read']): Promise<number | undefined> {
  const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(db)
  return rows[0]?.port
}

/** Writes journal rows one after the other until stopped, and keeps those that were acknowledged. */
function load(store: Store) {
  const acknowledged: number[] = []
  let isOver = false
  let seq = 0
  const write = async () => {
    while (!isOver) {
      const mine = ++seq
      try {
        await store.batch([journalRow(store, mine)])
        acknowledged.push(mine)
      } catch (thrown) {
        ofKind('unavailable')(thrown)
      }
    }
  }
  const writers = [write(), write(), write()]
  return {
    more: (count: number) => {
      const goal = acknowledged.length + count
      return until(`${count} more rows`, () => (acknowledged.length >= goal ? true : undefined))
    },
    async stop() {
      isOver = true
      await Promise.all(writers)
      return acknowledged
    },
  }
}

test(
  'when the primary dies writes go on at the promoted standby, and nothing acknowledged is missing',
  inTurn(0, 3),
  async (t) => {
    const { primary, standby, url } = await startPair(t)
    const dataFolder = await dataFolderOf(primary)
    const store = await openOn(t, url, { limits: QUICK, onError: () => undefined })
    await migrate(store.admin, store.columnTypes)
    await store.followChanges()
    await asAdmin(primary.adminUrl, `alter system set synchronous_standby_names = '${STANDBY}'`)
    await asAdmin(primary.adminUrl, 'select pg_reload_conf()')
    await until('the standby is synchronous', async () => {
      const [row] = await asAdmin(primary.adminUrl, 'select sync_state from pg_stat_replication')
      return row?.sync_state === 'sync' ? true : undefined
    })

    const writing = load(store)
    await writing.more(100)
    assert.equal(await portIn(store.write), portOf(primary.url))
    await primary.stop('kill')
    await standby.promote()
    await writing.more(100)
    for (const db of [store.write, store.read, store.reports, store.admin]) {
      assert.equal(await portIn(db), portOf(standby.url))
    }

    // Comes back as one that only follows: it is not written to, even by those who ask it first.
    await demote(dataFolder)
    await primary.start()
    await writing.more(20)
    const second = await openOn(t, url, { limits: QUICK })
    for (const db of [second.write, second.read, second.admin]) {
      await until('it has found the primary', async () =>
        (await portIn(db)) === portOf(standby.url) ? true : undefined,
      )
    }
    await second.batch([journalRow(second, 1_000_000)])
    const acknowledged = await writing.stop()
    const kept = new Set(await journalSeqs(store))
    assert.deepEqual(
      acknowledged.filter((seq) => !kept.has(seq)),
      [],
    )
    assert.ok(kept.has(1_000_000))
  },
)

test('all nodes leave a primary that is set to read only, although it runs on', inTurn(1, 3), async (t) => {
  const { primary, standby, url } = await startPair(t)
  const store = await openOn(t, url, { limits: QUICK, onError: () => undefined })
  await migrate(store.admin, store.columnTypes)
  await store.followChanges()
  const writing = load(store)
  await writing.more(20)
  assert.equal(await portIn(store.read), portOf(primary.url))
  await asAdmin(primary.adminUrl, 'alter system set default_transaction_read_only = on')
  await asAdmin(primary.adminUrl, 'select pg_reload_conf()')
  await standby.promote()
  await writing.more(20)
  for (const db of [store.write, store.read, store.reports, store.admin]) {
    assert.equal(await portIn(db), portOf(standby.url))
  }
  await writing.stop()
})
