import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { ReplicaFacts, ServerFacts } from '../../src/cli/doctor/postgres.ts'
import { replicaFinding, serverFindings } from '../../src/cli/doctor/postgres.ts'
import { readConfig } from '../../src/config.ts'
import { openStore } from '../../src/store/index.ts'
import { placeFor, postgres } from '../../testkit/engines.ts'
import { deadAddress, listen, startAnswering } from '../../testkit/listeners.ts'
import { createDatabase } from '../../testkit/postgres/databases.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { asAdmin } from '../store/postgres/standby.ts'

/** What doctor prints, by the name of the check. */
async function examined(t: TestContext, environment: Record<string, string>) {
  const outside = await startAnswering(t, (_request, response) => response.end())
  const { code, out } = await runCliHere(t, ['doctor', '--outbound', outside], { PORT: '0', ...environment })
  return { code, out: out.join('\n'), of: (check: string) => out.find((line) => line.split(/\s+/)[1] === check) ?? '' }
}

test('doctor with DATABASE_URL looks at the PostgreSQL server instead of the folder', async (t) => {
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  const { code, out, of } = await examined(t, { DATABASE_URL, DATA_DIR: '/dev/null/no-folder' })
  assert.equal(code, 0, out)
  assert.match(of('PostgreSQL'), /^ok .*PostgreSQL at 127\.0\.0\.1:\d+\/test_\w+ answers, version \d+/)
  assert.match(of('store'), /^ok .*the schema is up to date/)
  for (const check of ['encoding', 'rights', 'connections', 'server-clock', 'Citus'])
    assert.match(of(check), /^ok /, out)
  // The tests' server gives durability up for speed: just what doctor is to notice.
  assert.match(of('durability'), /^warning .*fsync is off: acknowledged counts may be lost/)
  assert.match(of('autovacuum'), /^warning .*autovacuum is off: the remains of deleted rows stay/)
  for (const check of ['DATA_DIR', 'disk', 'integrity', 'replica']) assert.equal(of(check), '', out)
  assert.ok(!out.includes(new URL(DATABASE_URL).password))
})

test('doctor warns of a database that lacks migrations, and fails on a newer one', async (t) => {
  const { url, drop } = await createDatabase({ isMigrated: false })
  t.after(drop)
  assert.match((await examined(t, { DATABASE_URL: url })).of('store'), /^warning .*migrations pending: 0001-foundation/)
  assert.equal((await runCliHere(t, ['migrate'], { DATABASE_URL: url })).code, 0)
  const store = await openStore(readConfig({ DATABASE_URL: url }), (error) => assert.fail(error))
  await store.admin
    .withTables<{ kysely_migration: { name: string; timestamp: string } }>()
    .insertInto('kysely_migration')
    .values({ name: '9999-later', timestamp: '' })
    .execute()
  await store.close()
  const newer = await examined(t, { DATABASE_URL: url })
  assert.equal(newer.code, 1)
  assert.match(newer.of('store'), /^failed .*newer than this version \(9999-later\)/)
})

test('doctor fails on a database that holds an unfinished copy', async (t) => {
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  const store = await openStore(readConfig({ DATABASE_URL }), (error) => assert.fail(error))
  await store.admin.schema.createTable('unfinished_copy').addColumn('source', 'text').execute()
  await store.close()
  const { code, of } = await examined(t, { DATABASE_URL })
  assert.equal(code, 1)
  assert.match(of('store'), /^failed .*unfinished copy: run "tagwarden migrate --from …" again/)
})

test('doctor says why a server cannot be used and what to do, without the password', async (t) => {
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  const url = (change: (url: URL) => void): string => {
    const changed = new URL(DATABASE_URL)
    change(changed)
    return changed.href
  }
  const port = new URL(await deadAddress()).port
  const CASES: readonly [url: string, says: RegExp][] = [
    [url((there) => (there.port = port)), /DATABASE_URL cannot be used: .*ECONNREFUSED.* \(nothing listens there/],
    [url((there) => (there.pathname = '/nowhere')), /database "nowhere" does not exist \(create it:/],
    [url((there) => (there.password = 's3cret')), /password authentication failed .*\(check user, password/],
  ]
  for (const [address, says] of CASES) {
    const { code, out, of } = await examined(t, { DATABASE_URL: address, DATABASE_READ_URL: DATABASE_URL })
    assert.equal(code, 1, out)
    assert.match(of('PostgreSQL'), /^failed /, out)
    assert.match(of('PostgreSQL'), says)
    assert.equal(of('replica'), '', 'not looked at without its primary')
    assert.ok(!out.includes('s3cret') && !out.includes(new URL(DATABASE_URL).password))
  }
})

test('doctor warns of a replica that is none, and fails on one that cannot be reached', async (t) => {
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  const same = await examined(t, { DATABASE_URL, DATABASE_READ_URL: DATABASE_URL })
  assert.equal(same.code, 0, same.out)
  assert.match(same.of('replica'), /^warning .*accepts writes, not to a replica/)
  const away = new URL(DATABASE_URL)
  away.port = new URL(await deadAddress()).port
  const gone = await examined(t, { DATABASE_URL, DATABASE_READ_URL: away.href })
  assert.equal(gone.code, 1)
  assert.match(gone.of('PostgreSQL'), /^ok /)
  assert.match(gone.of('replica'), /^failed .*DATABASE_READ_URL cannot be used: .*ECONNREFUSED/)
})

test('a pooler that gives one session to several connections fails doctor and is named in the log of a start', async (t) => {
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  const pooled = await transactionPooler(t, DATABASE_URL)
  const { code, of } = await examined(t, { DATABASE_URL: pooled })
  assert.equal(code, 1)
  assert.match(
    of('sessions'),
    /^failed .*DATABASE_URL is the address of a pooler in transaction mode, .*set its pool_mode = session/,
  )
  const reported: string[] = []
  const config = readConfig({ DATABASE_URL: await transactionPooler(t, DATABASE_URL) })
  const store = await openStore(config, (error, what) => reported.push(`${what}: ${error.message}`))
  await store.close()
  assert.match(reported.join(), /^checking the connections: DATABASE_URL is the address of a pooler /)
  assert.equal((await examined(t, { DATABASE_URL })).of('sessions'), '')
})

test('doctor counts the connections that role and database allow', async (t) => {
  const { url, adminUrl, drop } = await createDatabase()
  t.after(drop)
  await asAdmin(adminUrl, `alter database ${new URL(url).pathname.slice(1)} connection limit 8`)
  assert.match(
    (await examined(t, { DATABASE_URL: url })).of('connections'),
    /^warning .*may need 12, the server allows 8 /,
  )
})

/** Lends one session of the server to all its clients, one message after the other, as PgBouncer's transaction mode does when idle. */
async function transactionPooler(t: TestContext, databaseUrl: string): Promise<string> {
  const { hostname, port } = new URL(databaseUrl)
  const far = connect(Number(port), hostname)
  far.on('error', () => undefined)
  let speaking: Socket | undefined
  let isSignedIn = false
  far.on('data', (answer: Buffer) => {
    // The letter of the message that ends an answer.
    isSignedIn ||= answer.subarray(-6, -5).toString() === 'Z'
    speaking?.write(answer)
  })
  const server = createServer((near) => {
    let isKnown = !isSignedIn
    near.on('error', () => undefined)
    near.on('data', (message: Buffer) => {
      speaking = near
      if (!isKnown) {
        isKnown = true
        // AuthenticationOk and ReadyForQuery.
        near.write(Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1'))
      } else if (message.toString('latin1', 0, 1) !== 'X') far.write(message)
    })
  })
  t.after(() => {
    server.close()
    far.destroy()
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(await listen(server))
  return url.href
}

const GOOD: ServerFacts = {
  version: '17.2',
  encoding: 'UTF8',
  synchronousCommit: 'on',
  fsync: 'on',
  autovacuum: 'on',
  connections: 97,
  schema: 'public',
  mayCreate: true,
  citus: null,
  skewMs: 0,
  sharesSessions: false,
}

const SERVERS: readonly [facts: Partial<ServerFacts>, check: string, level: string, says: RegExp][] = [
  [{}, 'version', 'ok', /17\.2/],
  [
    { version: '14.20 (Debian 14.20-1)' },
    'version',
    'warning',
    /14\.20.*no longer gets fixes: upgrade the server to 15/,
  ],
  [{}, 'encoding', 'ok', /UTF8/],
  [
    { encoding: 'SQL_ASCII' },
    'encoding',
    'warning',
    /SQL_ASCII, which checks no text: prefer one with encoding 'UTF8'/,
  ],
  [{}, 'rights', 'ok', /schema public/],
  [{ mayCreate: false }, 'rights', 'failed', /grant create on schema public/],
  [{ schema: null, mayCreate: false }, 'rights', 'failed', /set search_path/],
  [{ synchronousCommit: 'remote_apply' }, 'durability', 'ok', /synchronous_commit = remote_apply/],
  [{ synchronousCommit: 'off' }, 'durability', 'warning', /synchronous_commit is off: acknowledged counts may be lost/],
  [{ fsync: 'off' }, 'durability', 'warning', /fsync is off/],
  [{}, 'connections', 'ok', /97 in all, up to 12 for each process: enough for 8/],
  [{ connections: 12 }, 'connections', 'ok', /enough for 1 /],
  [{ connections: 11 }, 'connections', 'warning', /may need 12, the server allows 11.*lower DATABASE_POOL_SIZE=10/],
  [{ skewMs: -1_900 }, 'server-clock', 'ok', /within 1\.9 s/],
  [{ skewMs: 2_100 }, 'server-clock', 'warning', /2\.1 s behind ours/],
  [{ skewMs: -90_000 }, 'server-clock', 'warning', /90\.0 s ahead of ours/],
  [{}, 'Citus', 'ok', /not in this database/],
  [{ citus: '13.0-1' }, 'Citus', 'ok', /version 13\.0-1/],
]

for (const [facts, check, level, says] of SERVERS) {
  test(`a server with ${JSON.stringify(facts)} is ${level} by its ${check}`, () => {
    const findings = serverFindings({ ...GOOD, ...facts }, 10).filter((finding) => finding.check === check)
    assert.deepEqual(
      findings.map((finding) => finding.level),
      [level],
    )
    assert.match(findings[0]?.text ?? '', says)
  })
}

const REPLICAS: readonly [facts: ReplicaFacts, level: string, says: RegExp][] = [
  [{ isReplica: true, behindBytes: 0, ageSeconds: 86_400 }, 'ok', /everything that is committed/],
  [{ isReplica: true, behindBytes: 5_000, ageSeconds: 0.4 }, 'ok', /5 KiB of log behind, newest change 0 s old/],
  [{ isReplica: true, behindBytes: 1e9, ageSeconds: 75 }, 'warning', /75 s old: reports lack what is newer/],
  [{ isReplica: true, behindBytes: 1, ageSeconds: null }, 'warning', /nothing seen yet/],
  [{ isReplica: false, behindBytes: 0, ageSeconds: null }, 'warning', /accepts writes/],
]

for (const [facts, level, says] of REPLICAS) {
  test(`a replica with ${JSON.stringify(facts)} is ${level}`, () => {
    const finding = replicaFinding(facts)
    assert.equal(finding.level, level)
    assert.match(finding.text, says)
  })
}
