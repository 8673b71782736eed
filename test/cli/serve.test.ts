import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { startNotes } from '../../src/cli/serve.ts'
import { type Environment, readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { freePort, startAnswering } from '../../testkit/listeners.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli, startCli } from '../../testkit/processes/command-line.ts'
import { NodeProcess } from '../../testkit/processes/node-process.ts'
import { isReady, READY, serve } from '../../testkit/processes/server-process.ts'
import { PROGRAM } from '../../testkit/repository.ts'
import { startTestService } from '../../testkit/service.ts'
import { copyTemplate } from '../../testkit/sqlite.ts'
import { until } from '../../testkit/until.ts'
import { makeNewer } from './databases.ts'

/** The one line with which `serve` refuses to start. */
async function refusal(t: TestContext, environment: Record<string, string>, run = runCliHere): Promise<string> {
  const { code, out, err } = await run(t, ['serve'], { PORT: '0', LOG_LEVEL: 'warn', ...environment })
  assert.deepEqual({ code, out, lines: err.length }, { code: 1, out: [], lines: 1 })
  return err[0] ?? ''
}

test('serve prints where it is ready and what is off or open, answers there, and ends with code 0 on SIGTERM', async (t) => {
  const server = await startCli(t, ['serve'], { PORT: '0', DATA_DIR: await tempDir(t), ADMIN_TOKN: 'x' })
  const url = await server.printed(READY)
  assert.equal((await fetch(`${url}/ready`)).status, 200)
  await server.printed(/(Management is open: [^"]+)/)
  server.child.kill('SIGTERM')
  const { code, out, err } = await server.finished
  assert.deepEqual({ code, err }, { code: 0, err: [] })
  assert.ok(out.length < 12 && !out.some((line) => line.includes('0001-foundation')), out.join('\n'))
  for (const note of [
    'ADMIN_TOKN is not a setting and has no effect: did you mean ADMIN_TOKEN?',
    `Dashboard: ${url}/`,
    'E-mail is off: SMTP_URL is not set',
    'No chat channel for all clients',
  ]) {
    assert.ok(
      out.some((line) => line.includes(note)),
      note,
    )
  }
})

test('a second process on the same DATA_DIR is refused, and the first goes on', async (t) => {
  const dataDir = await tempDir(t)
  const { url } = await startTestService(t, systemClock, { DATA_DIR: dataDir })
  assert.match(await refusal(t, { DATA_DIR: dataDir }, runCli), /DATA_DIR .* is in use by another Tagwarden process/)
  const migration = await runCli(t, ['migrate'], { DATA_DIR: dataDir })
  assert.equal(migration.code, 1)
  assert.match(migration.err.join('\n'), /^tagwarden: DATA_DIR .* is in use by another Tagwarden process.*$/)
  const status = await runCliHere(t, ['migrate', '--status'], { DATA_DIR: dataDir })
  assert.deepEqual([status.code, status.err], [0, []])
  assert.match(status.out[0] ?? '', /^applied {2}0001-foundation$/)
  assert.equal((await fetch(`${url}/ready`)).status, 200)
})

test('a port in use is named, before the database is migrated', async (t) => {
  const { port } = new URL(await startAnswering(t, (_request, response) => response.end()))
  const dataDir = await tempDir(t)
  const line = await refusal(t, { DATA_DIR: dataDir, PORT: port }, runCli)
  assert.match(line, new RegExp(`PORT=${port} is in use by another program`))
  const database = new DatabaseSync(join(dataDir, 'tagwarden.db'))
  t.after(() => database.close())
  assert.deepEqual(database.prepare('select name from sqlite_master').all(), [])
})

test('a database of a newer program is not touched', async (t) => {
  const dataDir = await tempDir(t)
  await makeNewer(dataDir)
  assert.match(await refusal(t, { DATA_DIR: dataDir }), /the database is newer than this version.*9999-later/)
})

test('a DATA_DIR that is a file cannot be used', async (t) => {
  const file = join(await tempDir(t), 'data')
  await writeFile(file, '')
  assert.match(await refusal(t, { DATA_DIR: file }), /DATA_DIR .* cannot be used/)
})

test('a database that opens and then accepts no writes is named, as on a disk that is full or read-only', async (t) => {
  const dataDir = await tempDir(t)
  await copyTemplate(dataDir)
  const database = new DatabaseSync(join(dataDir, 'tagwarden.db'))
  database.exec("create trigger full before insert on nodes begin select raise(abort, 'no room'); end")
  database.close()
  assert.equal(await refusal(t, { DATA_DIR: dataDir }), 'tagwarden: the database cannot be used: no room')
})

test('a .env that cannot be read is named, and the service does not start without it', async (t) => {
  const folder = await tempDir(t)
  await mkdir(join(folder, '.env'))
  const server = new NodeProcess({ ...serve({ DATA_DIR: folder }), folder, logFolder: await tempDir(t) })
  server.launch()
  assert.equal(await server.ended(), 1)
  assert.match(
    server.err.join('\n'),
    /^tagwarden: the settings in \.env cannot be read \(EISDIR.*\): let this user read it.*$/,
  )
})

for (const encoding of ['utf8', 'utf16le'] as const) {
  test(`a .env in ${encoding} with a byte order mark, as programs on Windows write it, is read from its first line on`, async (t) => {
    const folder = await tempDir(t)
    await writeFile(join(folder, '.env'), '\uFEFFPORT=none\r\n', encoding)
    const server = new NodeProcess({
      name: 'tagwarden',
      args: [PROGRAM, 'serve'],
      environment: { DATA_DIR: folder },
      folder,
      logFolder: await tempDir(t),
    })
    server.launch()
    assert.equal(await server.ended(), 1)
    assert.match(server.err.join('\n'), /^tagwarden: PORT="none" must be a whole number/)
  })
}

/** Takes no byte, as a file on a disk that is full. */
const FULL = '/dev/full'

test('a log that cannot be written costs its lines, and neither answers nor the orderly end', {
  skip: !existsSync(FULL) && 'only Linux has such a file',
}, async (t) => {
  const [folder, port, output] = [await tempDir(t), await freePort(), openSync(FULL, 'a')]
  const { args, environment } = serve({ DATA_DIR: folder, PORT: String(port) })
  const child = spawn(process.execPath, args, { cwd: folder, env: environment, stdio: ['ignore', output, 'ignore'] })
  closeSync(output)
  t.after(() => child.kill('SIGKILL'))
  await until('the service is ready', async () => (await isReady(`http://127.0.0.1:${port}`)) || undefined, 30_000)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})

const ADDRESS = 'http://127.0.0.1:8080'
const notesOf = (environment: Environment, hasAccounts = false) =>
  startNotes(readConfig(environment), ADDRESS, hasAccounts)

test('a start with nothing set says where the dashboard is, and what is off or open', () => {
  assert.deepEqual(notesOf({}), [
    'Dashboard: http://127.0.0.1:8080/',
    'E-mail is off: SMTP_URL is not set',
    'No chat channel for all clients: CHAT_WEBHOOK_URL is not set (each client can have its own)',
    'Management is open: anyone who can reach http://127.0.0.1:8080 can change everything, because ADMIN_TOKEN is not set',
  ])
})

test('where people sign in with accounts management is not said to be open', () => {
  const open = /^Management is open/
  assert.ok(notesOf({}).some((note) => open.test(note)))
  assert.ok(!notesOf({}, true).some((note) => open.test(note)))
  const oidc = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'tagwarden' }
  for (const environment of [
    { ADMIN_EMAIL: 'ada@agency.example' },
    { ...oidc, OIDC_CLIENT_SECRET: 'secret-of-the-client-0123456789' },
    { PROXY_EMAIL_HEADER: 'X-Forwarded-Email', PROXY_ADDRESSES: '127.0.0.1' },
  ]) {
    assert.ok(!notesOf(environment).some((note) => open.test(note)), JSON.stringify(environment))
  }
})

test('a start with everything set says where the dashboard is', () => {
  const environment = {
    PUBLIC_URL: 'https://tagwarden.example.com',
    ADMIN_TOKEN: 'admin-token-0123456789',
    SMTP_URL: 'smtp://mail.example.com:587',
    SMTP_FROM: 'alerts@example.com',
    CHAT_WEBHOOK_URL: 'https://hooks.example.com/T0/B0/key',
  }
  assert.deepEqual(notesOf(environment), ['Dashboard: https://tagwarden.example.com/'])
})

test('a node that only takes ingest has no dashboard to show', () => {
  assert.deepEqual(notesOf({ ROLE: 'ingest', DATABASE_URL: 'postgres://db.example.com/tagwarden' }), [])
})
