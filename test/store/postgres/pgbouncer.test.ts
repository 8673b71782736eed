import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../../src/lib/index.ts'
import { migrate } from '../../../src/store/index.ts'
import { eventPayload } from '../../../testkit/deltas.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { freePort } from '../../../testkit/listeners.ts'
import { serverUser } from '../../../testkit/postgres/binaries.ts'
import { startTestService } from '../../../testkit/service.ts'
import { until } from '../../../testkit/until.ts'
import { newDatabase, openOn } from './support.ts'

const missing =
  spawnSync('pgbouncer', ['--version']).status === 0 ? false : 'it needs the program pgbouncer on the PATH'

/** A PgBouncer in session mode with settings of its own making left out; returns the address of the database behind it. */
async function pooled(t: TestContext, databaseUrl: string): Promise<string> {
  const { uid, gid } = await serverUser()
  const folder = await tempDir(t)
  const { hostname, port, pathname, username, password } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const listenPort = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
${name} = host=${hostname} port=${port} dbname=${name} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = session
default_pool_size = 50
`,
  )
  if (uid !== undefined && gid !== undefined) for (const path of [folder, file]) await chown(path, uid, gid)
  const child = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...(uid === undefined ? {} : { uid, gid }) })
  t.after(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await until('PgBouncer listens', async () => {
    assert.equal(child.exitCode, null, 'pgbouncer has ended')
    const socket = connect(listenPort, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return true
    } catch {
      return undefined
    } finally {
      socket.destroy()
    }
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(listenPort)
  return url.href
}

test('behind PgBouncer in session mode the store works as ever, time limits and notifications included', {
  skip: missing,
}, async (t) => {
  const direct = await newDatabase(t)
  const url = await pooled(t, direct)
  const [store, other] = [await openOn(t, url), await openOn(t, url)]
  await migrate(store.admin, store.columnTypes)
  const limitOf = async (db: typeof store.read) =>
    (await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`.execute(db)).rows[0]?.limit
  assert.equal(await limitOf(store.admin), '0')
  assert.equal(await limitOf(store.read), '30s')
  assert.equal(await limitOf(store.write), '30s')
  const received = Promise.withResolvers<void>()
  await store.followChanges()
  store.changes.subscribe(({ id }) => (id === 'x' ? received.resolve() : undefined))
  await other.write
    .insertInto('audit_log')
    .values({ at: 1, actor: 'a', action: 'update', entity: 'site', entity_id: 'x', before: null, after: null })
    .execute()
  await other.changes.publish({ kind: 'site', id: 'x' })
  await received.promise
})

test('behind PgBouncer in session mode the service starts, counts and stops', { skip: missing }, async (t) => {
  const url = await pooled(t, await newDatabase(t))
  const api = await startTestService(t, systemClock, { DATABASE_URL: url })
  const site = await api.newSite(await api.newClient())
  const headers = { 'idempotency-key': 'once' }
  for (let sent = 0; sent < 2; sent++) {
    const answer = await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }), headers)
    assert.equal(answer.status, 200)
  }
  await api.service.ingest.flush()
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview`)
  assert.equal(overview.json<{ total_events: number }>().total_events, 1)
  assert.equal((await api.call('GET', '/ready')).status, 200)
})
