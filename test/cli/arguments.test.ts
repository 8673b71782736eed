import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { VERSION } from '../../src/version.ts'
import { tempDir } from '../../testkit/engines.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli } from '../../testkit/processes/command-line.ts'
import { PROGRAM, PROGRAM_OF_SOURCES } from '../../testkit/repository.ts'

const COMMANDS = [
  'serve',
  'demo',
  'init',
  'send',
  'migrate',
  'backtest',
  'backup',
  'restore',
  'doctor',
  'apply',
  'export',
]

test('the help lists every command', async (t) => {
  const { code, out } = await runCli(t, ['--help'])
  assert.equal(code, 0)
  for (const command of COMMANDS) assert.match(out.join('\n'), new RegExp(`^  ${command} `, 'm'))
})

test('the version is that of the package', async (t) => {
  assert.deepEqual((await runCli(t, ['--version'])).out, [VERSION])
})

const SOURCES = 'npm run (?:-s )?tagwarden --'

for (const command of COMMANDS) {
  test(`${command} --help explains itself with examples`, async (t) => {
    const { code, out, err } = await runCliHere(t, [command, '--help'])
    assert.deepEqual({ code, err }, { code: 0, err: [] })
    const text = out.join('\n')
    assert.match(text, new RegExp(`^Usage: tagwarden ${command}`))
    assert.match(text, new RegExp(`Examples:\n  (?:.* )?${SOURCES} ${command}`))
  })
}

test('examples are what is typed: in a checkout npm, with the npm package the program', async (t) => {
  // Where many tests run, the program is a bundle, as in the npm package.
  const typed = PROGRAM === PROGRAM_OF_SOURCES ? SOURCES : 'tagwarden'
  const { out } = await runCli(t, ['init', '--help'])
  assert.match(out.join('\n'), new RegExp(`Examples:\n  (?:.* )?${typed} init`))
})

interface Refusal {
  what: string
  /** By the program itself. */
  isRun?: true
  args: readonly string[]
  environment?: Record<string, string>
  says: RegExp
}

const REFUSALS: readonly Refusal[] = [
  { what: 'an unknown command', isRun: true, args: ['watch'], says: /unknown command 'watch'/ },
  { what: 'an unknown option', args: ['serve', '--fast'], says: /unknown option '--fast' \(see --help\)$/ },
  { what: 'send without a key', args: ['send'], says: /required option '--key <key>'.*\(see --help\)$/ },
  {
    what: 'send of nothing',
    args: ['send', '--key', 'k', '--count', '0'],
    says: /'0' is invalid.*1 to 1000000\. \(see --help\)$/,
  },
  { what: 'send with a mode that is none', args: ['send', '--key', 'k', '--mode', 'x'], says: /per_event, batched/ },
  { what: 'send to no address', args: ['send', '--key', 'k', '--endpoint', 'here'], says: /'here' is invalid.*https:/ },
  {
    what: 'send to an address with a password, which is not shown',
    args: ['send', '--key', 'k', '--endpoint', 'ftp://user:p/w@host'],
    says: /'ftp:\/\/…@host' is invalid.*https:/,
  },
  { what: 'send with a header that is none', args: ['send', '--key', 'k', '--key-header', 'a b'], says: /HTTP header/ },
  { what: 'a demo of no days', args: ['demo', '--days', '0'], says: /'0' is invalid.*1 to 365/ },
  { what: 'a demo on no port', args: ['demo', '--port', '70000'], says: /'70000' is invalid.*0 to 65535/ },
  { what: 'a backtest of no file', args: ['backtest'], says: /required option '--csv <file>'/ },
  {
    what: 'a backtest in no direction',
    args: ['backtest', '--csv', 'x', '--direction', 'left'],
    says: /'left' is invalid.*down, up, both/,
  },
  {
    what: 'a backtest in no time zone',
    args: ['backtest', '--csv', 'x', '--timezone', 'Mars'],
    says: /'Mars' is invalid.*Europe\/Berlin/,
  },
  {
    what: 'a backtest of a file that is none',
    args: ['backtest', '--csv', 'x.csv'],
    says: /x\.csv: there is no such file/,
  },
  { what: 'a backup to no file', args: ['backup'], says: /missing required argument 'file'/ },
  { what: 'a restore of no file', args: ['restore'], says: /missing required argument 'file'/ },
  { what: 'applying no file', args: ['apply'], says: /missing required argument 'path'/ },
  {
    what: 'applying to no address',
    args: ['apply', 'x.yaml', '--url', 'here'],
    says: /'here' is invalid\. Give an address that begins with https:\/\/ or http:\/\/\./,
  },
  {
    what: 'an address in the environment that is none',
    args: ['export'],
    environment: { TAGWARDEN_URL: 'here' },
    says: /TAGWARDEN_URL is not an address/,
  },
  { what: 'applying a file that is not there', args: ['apply', 'x.yaml'], says: /x\.yaml: there is no such file/ },
  { what: 'a doctor sent nowhere', args: ['doctor', '--outbound', 'ftp://x'], says: /'ftp:\/\/x' is invalid/ },
  { what: 'a PORT that is none', args: ['serve'], environment: { PORT: 'http' }, says: /PORT="http" must be/ },
  {
    what: 'a setting that only migrate reads with the others',
    args: ['migrate'],
    environment: { RETENTION_HOUR_DAYS: '1' },
    says: /RETENTION_HOUR_DAYS="1" must be/,
  },
  {
    what: 'an open address without a token',
    isRun: true,
    args: ['serve'],
    environment: { HOST: '0.0.0.0' },
    says: /set ADMIN_TOKEN, or ALLOW_UNAUTHENTICATED=true/,
  },
]

for (const { what, isRun, args, environment, says } of REFUSALS) {
  test(`${what} is refused in one line with exit code 1`, async (t) => {
    const runIt = isRun ? runCli : runCliHere
    const { code, out, err } = await runIt(t, args, { DATA_DIR: await tempDir(t), ...environment })
    assert.deepEqual({ code, out, lines: err.length }, { code: 1, out: [], lines: 1 })
    assert.match(err[0] ?? '', /^tagwarden: /)
    assert.match(err[0] ?? '', says)
  })
}

test('an older Node names the version that is needed, in one line with exit code 1', () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.15.1" } })'
  const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, PROGRAM_OF_SOURCES, '--version']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.deepEqual(
    { status, stdout, stderr },
    {
      status: 1,
      stdout: '',
      stderr: 'tagwarden: Node 22.16 or newer is needed, and this is 22.15.1 (https://nodejs.org)\n',
    },
  )
})
