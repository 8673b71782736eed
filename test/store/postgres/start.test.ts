import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartupError } from '../../../src/lib/index.ts'
import { openPostgresStore } from '../../../src/store/index.ts'
import type { PostgresOptions } from '../../../src/store/postgres/open.ts'
import { requireVersion } from '../../../src/store/postgres/open.ts'
import { createDatabase, startPostgres } from '../../../testkit/postgres/databases.ts'
import { asAdmin } from './standby.ts'
import { journalRow, newDatabase, openOn, wireTo } from './support.ts'

/** The one line with which the start stops. */
async function refusal(options: Partial<PostgresOptions>): Promise<string> {
  const opening = openPostgresStore({
    url: '',
    readUrl: null,
    poolSize: 4,
    patienceMs: 0,
    onError: () => undefined,
    ...options,
  })
  const thrown: unknown = await opening.then(
    (store) => store.close(),
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof StartupError, String(thrown))
  assert.doesNotMatch(thrown.message, /\n/)
  return thrown.message
}

const changed = (url: string, part: 'password' | 'pathname' | 'port', value: string) => {
  const copy = new URL(url)
  copy[part] = value
  return copy.href
}

test('a wrong password, an unknown database or a missing server stops the start with a line that names the setting', async (t) => {
  const url = await newDatabase(t)
  const password = 'n0t-the-password'
  const wrong = changed(url, 'password', password)
  for (const [message, settings] of [
    [/^DATABASE_URL cannot be used: password authentication failed for user "\w+"$/, { url: wrong }],
    [/^DATABASE_READ_URL cannot be used: password authentication failed for/, { url, readUrl: wrong }],
    [/^DATABASE_URL cannot be used: database "none" does not exist$/, { url: changed(url, 'pathname', 'none') }],
    [/^DATABASE_READ_URL cannot be used: database "none" does not/, { url, readUrl: changed(url, 'pathname', 'none') }],
    [/^DATABASE_URL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1$/, { url: changed(wrong, 'port', '1') }],
    [/^DATABASE_URL is not valid: /, { url: `postgres://u:${password}:x@h:p/d` }],
    [/^DATABASE_READ_URL is not valid: /, { url, readUrl: `mysql://u:${password}@h/d` }],
  ] as const) {
    const line = await refusal(settings)
    assert.match(line, message)
    assert.ok(!line.includes(password))
  }
})

test('a host that answers nothing stops the start when the time for connecting is over', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  wire.cut()
  const line = await refusal({ url: wire.url, limits: { connect: 200 } })
  assert.match(line, /^DATABASE_URL cannot be used: .*(timeout|timed out)/i)
})

test('a database that cannot store every text stops the start', async (t) => {
  const { drop, adminUrl } = await createDatabase({ isMigrated: false })
  const name = `${new URL(adminUrl).pathname.slice(1)}_latin1`
  await asAdmin(
    adminUrl,
    `create database ${name} encoding 'LATIN1' locale_provider libc locale 'C' template template0`,
  )
  t.after(async () => {
    await asAdmin(adminUrl, `drop database ${name} with (force)`)
    await drop()
  })
  const line = await refusal({ url: changed(adminUrl, 'pathname', name) })
  assert.match(line, /^DATABASE_URL is a database with the encoding LATIN1, .* create one with encoding 'UTF8'$/)
})

test('a server that is there a little later is waited for', async (t) => {
  const server = await startPostgres(t, { durable: false })
  await server.stop('fast')
  const away: string[] = []
  const isAway = Promise.withResolvers<void>()
  const opening = openOn(t, server.url, {
    patienceMs: 60_000,
    onError: (error, what) => {
      away.push(`${what}: ${error.message}`)
      isAway.resolve()
    },
  })
  await isAway.promise
  await server.start()
  const store = await opening
  assert.match(away[0] ?? '', /^connecting to DATABASE_URL: connect ECONNREFUSED/)
  assert.equal(store.engine, 'postgres')
})

test('a replica that is not there is reported, and does not keep the program from starting', async (t) => {
  const url = await newDatabase(t)
  const reports: string[] = []
  const store = await openOn(t, url, {
    readUrl: changed(url, 'port', '1'),
    onError: (error, what) => void reports.push(`${what}: ${error.message}`),
  })
  assert.deepEqual(reports, ['connecting to DATABASE_READ_URL: connect ECONNREFUSED 127.0.0.1:1'])
  await store.batch([journalRow(store, 1)])
})

test('a version that is too old stops the start, and all later ones are fine', () => {
  assert.throws(
    () => requireVersion('DATABASE_URL', 130_022),
    (error) =>
      error instanceof StartupError && error.message === 'DATABASE_URL is PostgreSQL 13: 14 or newer is needed',
  )
  for (const version of [140_000, 150_003, 180_004]) requireVersion('DATABASE_URL', version)
})
