import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { placeFor, postgres, tempDir } from '../../testkit/engines.ts'
import { newFolder, removeFolder } from '../../testkit/folders.ts'
import { deadAddress, startAnswering } from '../../testkit/listeners.ts'
import { endKeptSessions } from '../../testkit/postgres/kept-sessions.ts'
import { runCli } from '../../testkit/processes/command-line.ts'
import { PROGRAM } from '../../testkit/repository.ts'
import { makeNewer } from './databases.ts'
import { goodSetUp, googleKey, KEY_PEM, makeDatabase, type SetUp, TOKEN, wrongWith } from './doctor-support.ts'

interface Seed {
  title: string
  /** What differs from the good setup. */
  seed: (t: TestContext, good: SetUp) => Promise<Partial<SetUp>> | Partial<SetUp>
  finds: { level: 'warning' | 'failed'; check: string; says: RegExp }
  isSkipped?: boolean
}

const settings =
  (changes: Record<string, string>): Seed['seed'] =>
  (_t, { environment }) => ({ environment: { ...environment, ...changes } })

const warning = (check: string, says: RegExp): Seed['finds'] => ({ level: 'warning', check, says })
const failed = (check: string, says: RegExp): Seed['finds'] => ({ level: 'failed', check, says })

const SEEDS: readonly Seed[] = [
  {
    title: 'a public address with http',
    seed: settings({ PUBLIC_URL: 'http://tagwarden.example.com' }),
    finds: warning('PUBLIC_URL', /https only: put a TLS proxy in front/),
  },
  {
    title: 'a public address below a path',
    seed: settings({ PUBLIC_URL: 'https://example.com/tagwarden' }),
    finds: warning('PUBLIC_URL', /below a path the dashboard does not load: give it a host of its own/),
  },
  {
    title: 'a public address where everybody may change everything',
    seed: settings({ ADMIN_TOKEN: '', ALLOW_UNAUTHENTICATED: 'true' }),
    finds: warning(
      'access',
      /anyone who reaches https:\/\/tagwarden\.example\.com can change everything: set ADMIN_TOKEN/,
    ),
  },
  {
    title: 'ADMIN_TOKEN as a manual prints it',
    seed: settings({ ADMIN_TOKEN: 'please-change-me-1' }),
    finds: warning('tokens', /ADMIN_TOKEN can be guessed.*openssl rand -hex 32/),
  },
  {
    title: 'a setting with a typing mistake',
    seed: settings({ RETENTION_MINUTES_DAYS: '3' }),
    finds: warning(
      'config',
      /RETENTION_MINUTES_DAYS is not a setting and has no effect: did you mean RETENTION_MINUTE_DAYS\?/,
    ),
  },
  {
    title: 'VIEWER_TOKEN that is ADMIN_TOKEN',
    seed: settings({ VIEWER_TOKEN: TOKEN }),
    finds: failed('config', /VIEWER_TOKEN equals ADMIN_TOKEN: give them different values/),
  },
  {
    title: 'a proxy that TRUST_PROXY does not name',
    seed: settings({ TRUST_PROXY: '' }),
    finds: warning('TRUST_PROXY', /failed sign-ins of one caller lock out all; set it/),
  },
  {
    title: 'a proxy that TRUST_PROXY does not name, where people sign in with accounts',
    seed: settings({ TRUST_PROXY: '', ADMIN_TOKEN: '', VIEWER_TOKEN: '', ADMIN_EMAIL: 'ada@example.com' }),
    finds: warning('TRUST_PROXY', /failed sign-ins of one caller lock out all; set it/),
  },
  {
    title: 'TRUST_PROXY that believes everybody',
    seed: settings({ TRUST_PROXY: '0.0.0.0/0' }),
    finds: failed('config', /\/0 would trust every caller/),
  },
  {
    title: 'a proxy that signs people in from a whole network',
    seed: settings({ PROXY_EMAIL_HEADER: 'X-Forwarded-Email', PROXY_ADDRESSES: '10.0.0.0/8' }),
    finds: warning(
      'PROXY_ADDRESSES',
      /every machine in 10\.0\.0\.0\/8 can sign in as anyone.*name only the proxy's address/,
    ),
  },
  {
    title: 'TRUST_PROXY that believes half of the internet',
    seed: settings({ TRUST_PROXY: '127.0.0.1,128.0.0.0/1' }),
    finds: warning('TRUST_PROXY', /128\.0\.0\.0\/1 lets every caller.*name only the proxy's address/),
  },
  {
    title: 'TRUST_PROXY that believes much of IPv6',
    seed: settings({ TRUST_PROXY: '2000::/3' }),
    finds: warning('TRUST_PROXY', /2000::\/3 lets every caller/),
  },
  {
    title: 'OUTBOUND_ALLOW with everything in it',
    seed: settings({ OUTBOUND_ALLOW: '0.0.0.0/0' }),
    finds: warning('OUTBOUND_ALLOW', /provide credentials: name the few addresses/),
  },
  {
    title: 'an ingest key header that is in every request',
    seed: settings({ INGEST_KEY_HEADERS: 'Host,X-Service-Key' }),
    finds: warning('INGEST_KEY_HEADERS', /host is in every request.*leave it out/),
  },
  {
    title: 'a Google key whose line ends were lost',
    seed: settings({ GOOGLE_CREDENTIALS: googleKey(KEY_PEM.replaceAll('\n', ' ')) }),
    finds: warning('GOOGLE_CREDENTIALS', /private_key is not a key.*GOOGLE_CREDENTIALS_FILE/),
  },
  {
    title: 'a Google key in a file that is not there',
    seed: settings({ GOOGLE_CREDENTIALS: '', GOOGLE_CREDENTIALS_FILE: '/nowhere/key.json' }),
    finds: failed('config', /GOOGLE_CREDENTIALS_FILE="\/nowhere\/key\.json" cannot be read/),
  },
  {
    title: 'SMTP_URL where nothing listens',
    seed: async (_t, { environment }) => ({
      environment: { ...environment, SMTP_URL: `smtp://127.0.0.1:${new URL(await deadAddress()).port}` },
    }),
    finds: warning('SMTP_URL', /could not be reached: .*ECONNREFUSED.*check that SMTP_URL is right/),
  },
  {
    title: 'SMTP_URL with a wrong password',
    seed: (_t, { environment }) => ({
      environment: { ...environment, SMTP_URL: environment.SMTP_URL?.replace('pass%3A', 'wrong-') ?? '' },
    }),
    finds: warning('SMTP_URL', /refused the login \(535\): check user and password in SMTP_URL/),
  },
  {
    title: 'CHAT_WEBHOOK_URL where nothing listens',
    seed: async (_t, { environment }) => ({
      environment: { ...environment, CHAT_WEBHOOK_URL: `${await deadAddress()}/services/chat-secret` },
    }),
    finds: warning('CHAT_WEBHOOK_URL', /nothing listens at 127\.0\.0\.1.*fix that/),
  },
  {
    title: 'HEARTBEAT_URL in a private network that OUTBOUND_ALLOW does not name',
    seed: settings({ HEARTBEAT_URL: 'http://10.1.2.3/ping/heartbeat-secret' }),
    finds: warning('HEARTBEAT_URL', /must not be reached from here: to allow it, add it to OUTBOUND_ALLOW/),
  },
  {
    title: 'a port that another program has',
    seed: async (t, { environment }) => {
      const other = await startAnswering(t, (_request, response) => response.end('hello'))
      return { environment: { ...environment, PORT: new URL(other).port } }
    },
    finds: failed('port', /is in use by another program: stop it, or choose another PORT/),
  },
  {
    title: 'HOST that is no address of this machine',
    seed: settings({ HOST: '192.0.2.1' }),
    finds: failed('port', /this machine does not have that address: set HOST/),
  },
  {
    title: 'DATA_DIR below a file',
    seed: async (_t, { environment, folder }) => {
      await writeFile(join(folder, 'file'), '')
      return { environment: { ...environment, DATA_DIR: join(folder, 'file', 'data') } }
    },
    finds: failed('DATA_DIR', /cannot be used.*make it a folder this user may write to/),
  },
  {
    title: 'DATA_DIR of a newer program',
    seed: async (t, { environment }) => {
      const DATA_DIR = await tempDir(t)
      await makeNewer(DATA_DIR)
      return { environment: { ...environment, DATA_DIR } }
    },
    finds: failed('store', /newer than this version.*start a newer Tagwarden/),
  },
  {
    title: 'a database that everybody on the machine can read',
    seed: async (_t, { environment }) => {
      const folder = environment.DATA_DIR ?? ''
      await makeDatabase(folder)
      // As an earlier version left them: new ones are readable by their owner alone.
      await chmod(folder, 0o755)
      await chmod(join(folder, 'tagwarden.db'), 0o644)
      return {}
    },
    finds: warning('privacy', /others on this machine can read the ingest keys in it: chmod 700 /),
  },
  {
    title: 'DATA_DIR in memory',
    isSkipped: process.platform !== 'linux' || !existsSync('/dev/shm'),
    seed: async (t, { environment }) => {
      const DATA_DIR = await newFolder('/dev/shm')
      t.after(() => removeFolder(DATA_DIR))
      return { environment: { ...environment, DATA_DIR } }
    },
    finds: warning(
      'file-system',
      /in memory \(tmpfs\): everything is lost when this machine stops; use a folder on a disk/,
    ),
  },
  {
    title: 'a clock that is wrong',
    seed: async (t) => ({
      outbound: await startAnswering(t, (_request, response) => {
        response.setHeader('date', new Date(Date.now() - 605_000).toUTCString())
        response.end()
      }),
    }),
    finds: warning('clock', /6\d\d s ahead: enable NTP/),
  },
  {
    title: 'outbound access that is blocked',
    seed: async (t) => {
      const blocked = await startAnswering(t, (request) => request.socket.destroy())
      return { outbound: blocked }
    },
    finds: warning('outbound', /closed the connection; without it these will not work/),
  },
  {
    title: 'secrets in a file that everybody can read',
    seed: async (_t, { folder }) => {
      await writeFile(join(folder, '.env'), `ADMIN_TOKEN=${TOKEN}\nWEBHOOK_SECRET=0123456789abcdef0\n`)
      await chmod(join(folder, '.env'), 0o644)
      return {}
    },
    finds: warning('.env', /can read ADMIN_TOKEN, WEBHOOK_SECRET in it: chmod 600 \.env/),
  },
]

test('doctor has nothing to say against a setup that is as it should be', async (t) => {
  const good = await goodSetUp(t)
  const { environment, outbound } = good
  await makeDatabase(environment.DATA_DIR ?? '')
  const { code, out, err } = await runCli(t, ['doctor', '--outbound', outbound], environment)
  assert.deepEqual({ code, err }, { code: 0, err: [] }, out.join('\n'))
  const { all, wrong } = await wrongWith(good)
  assert.deepEqual(wrong, [])
  for (const { check } of all)
    assert.ok(
      out.some((line) => line.split(/\s+/)[1] === check),
      `${check} is printed`,
    )
  for (const check of ['TRUST_PROXY', 'CHAT_WEBHOOK_URL', 'HEARTBEAT_URL', 'SMTP_URL', 'GOOGLE_CREDENTIALS', 'port']) {
    assert.ok(
      all.some((finding) => finding.check === check && finding.level === 'ok'),
      check,
    )
  }
})

test('doctor names few open files', { skip: process.platform !== 'linux' }, async (t) => {
  const { environment, outbound } = await goodSetUp(t)
  const command = [process.execPath, PROGRAM, 'doctor', '--outbound', outbound]
  const child = spawn('sh', ['-c', 'ulimit -n 512; exec "$@"', 'sh', ...command], {
    env: { PATH: process.env.PATH, ...environment },
    cwd: await tempDir(t),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.match(
    await text(child.stdout),
    /^warning +open-files +this process may have 512 files and connections.*LimitNOFILE/m,
  )
})

for (const { title, seed, finds, isSkipped = false } of SEEDS) {
  test(`doctor names ${title}, and nothing else`, { skip: isSkipped }, async (t) => {
    const good = await goodSetUp(t)
    const { wrong } = await wrongWith({ ...good, ...(await seed(t, good)) }, [finds.check])
    // Without an answer from outside there is no clock to compare with either.
    const found = wrong.filter(({ check, text: said }) => check !== 'clock' || !said.startsWith('not compared'))
    assert.deepEqual(
      found.map(({ level, check }) => ({ level, check })),
      [{ level: finds.level, check: finds.check }],
    )
    assert.match(found[0]?.text ?? '', finds.says)
  })
}

/** Of a database that tests share, which is not durable: see `fsync` of doctor-postgres.test.ts. */
const DATABASES: readonly {
  title: string
  sql?: (name: string) => string
  environment?: Record<string, string>
  finds: Seed['finds']
}[] = [
  {
    title: 'synchronous_commit that is off',
    sql: (name) => `alter database ${name} set synchronous_commit = off`,
    finds: warning('durability', /synchronous_commit is off.*set synchronous_commit = on/),
  },
  {
    title: 'a search_path that leads nowhere',
    sql: (name) => `alter database ${name} set search_path = nowhere`,
    finds: failed('rights', /no schema of the search_path exists: create one, or set search_path/),
  },
  {
    title: 'a pool for which the server has too few connections',
    environment: { DATABASE_POOL_SIZE: '200' },
    finds: warning('connections', /may need 202.*lower DATABASE_POOL_SIZE=200, or raise the lowest of max_connections/),
  },
]

for (const { title, sql, environment = {}, finds } of DATABASES) {
  test(`doctor names ${title}`, async (t) => {
    const good = await goodSetUp(t)
    const { DATABASE_URL = '' } = await placeFor(postgres, t)
    if (sql !== undefined) {
      const client = new pg.Client({ connectionString: DATABASE_URL })
      await client.connect()
      await client.query(sql(new URL(DATABASE_URL).pathname.slice(1)))
      await client.end()
      // New sessions begin with what was set.
      await endKeptSessions(DATABASE_URL)
    }
    const set = { ...good.environment, DATABASE_URL, ...environment }
    const { wrong } = await wrongWith({ ...good, environment: set })
    const found = wrong.filter(
      ({ text: said }) => !said.startsWith('fsync is off') && !said.startsWith('migrations pend'),
    )
    assert.deepEqual(
      found.map(({ level, check }) => ({ level, check })),
      [{ level: finds.level, check: finds.check }],
    )
    assert.match(found[0]?.text ?? '', finds.says)
  })
}
