import assert from 'node:assert/strict'
import { chmod, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { envFileFinding } from '../../src/cli/doctor/config.ts'
import { type DoctorFinding, verdict } from '../../src/cli/doctor/doctor-finding.ts'
import {
  diskFinding,
  findingOfType,
  memoryFinding,
  nodeFinding,
  openFilesFinding,
} from '../../src/cli/doctor/machine.ts'
import { clockFinding, type OutboundAnswer, skewOf } from '../../src/cli/doctor/network.ts'
import { systemClock } from '../../src/lib/index.ts'
import { migrate } from '../../src/store/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { deadAddress, startAnswering } from '../../testkit/listeners.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli } from '../../testkit/processes/command-line.ts'
import { startTestService } from '../../testkit/service.ts'
import { folderWithSite, makeNewer, makeUnmigrated, tearSteps, withStore } from './databases.ts'

/** One that is hard to guess. */
const ADMIN_TOKEN = '0b6f3c1e9a7d42588cb1a6f04e'

const line = (lines: readonly string[], check: string) => lines.find((candidate) => candidate.split(/\s+/)[1] === check)

test('doctor reads nothing from the modes of files on Windows, where they say nothing', async (t) => {
  const file = join(await tempDir(t), '.env')
  await writeFile(file, `ADMIN_TOKEN=${ADMIN_TOKEN}\n`)
  await chmod(file, 0o666)
  assert.equal((await envFileFinding(file, 'linux'))?.level, 'warning')
  assert.equal(await envFileFinding(file, 'win32'), null)
})

test('doctor finds nothing wrong with a good setup', async (t) => {
  const DATA_DIR = await tempDir(t)
  await withStore(DATA_DIR, (store) => migrate(store.write, store.columnTypes))
  const outside = await startAnswering(t, (_request, response) => response.end())
  const environment = {
    DATA_DIR,
    PORT: '0',
    PUBLIC_URL: 'https://tagwarden.example.com',
    ADMIN_TOKEN,
    TRUST_PROXY: '::1',
  }
  const { code, out, err } = await runCli(t, ['doctor', '--outbound', outside], environment)
  assert.deepEqual({ code, err }, { code: 0, err: [] })
  for (const check of [
    'Node',
    'config',
    'access',
    'PUBLIC_URL',
    'DATA_DIR',
    'store',
    'integrity',
    'clock',
    'outbound',
  ]) {
    assert.match(line(out, check) ?? '', /^ok /, check)
  }
  assert.match(line(out, 'store') ?? '', /up to date/)
  assert.match(out.at(-1) ?? '', /0 failed$/)
})

test('doctor names a database file that opens but cannot be read', async (t) => {
  const DATA_DIR = await folderWithSite(t, 'shop')
  await tearSteps(DATA_DIR)
  const { code, out } = await runCliHere(t, ['doctor'], { DATA_DIR })
  assert.equal(code, 1)
  assert.match(
    line(out, 'integrity') ?? '',
    /^failed .*malformed: the database file is damaged, restore it from a backup$/,
  )
})

test('doctor warns of what runs but will surprise, and that is no failure', async (t) => {
  const DATA_DIR = await tempDir(t)
  await makeUnmigrated(DATA_DIR)
  const late = await startAnswering(t, (_request, response) => {
    response.setHeader('date', new Date(Date.now() - 60_000).toUTCString())
    response.end()
  })
  const dead = await deadAddress()
  const environment = { DATA_DIR, PORT: '0', HOST: '0.0.0.0', ALLOW_UNAUTHENTICATED: 'true' }
  const { code, out } = await runCliHere(t, ['doctor', '--outbound', late, dead], environment)
  assert.equal(code, 0)
  const forPrograms = await runCliHere(t, ['doctor', '--json', '--outbound', late, dead], environment)
  assert.equal(forPrograms.code, 0)
  const findings = JSON.parse(forPrograms.out.join('\n')) as DoctorFinding[]
  const inLines = out.slice(0, -1).map((each) => each.split(/\s+/, 2).reverse())
  assert.deepEqual(
    findings.map(({ check, level }) => [check, level]),
    inLines,
  )
  assert.match(findings.find(({ check }) => check === 'access')?.text ?? '', /set ADMIN_TOKEN/)
  assert.match(
    line(out, 'access') ?? '',
    /^warning .*anyone who reaches HOST=0\.0\.0\.0.*set ADMIN_TOKEN; .*PUBLIC_URL/,
  )
  assert.match(line(out, 'PUBLIC_URL') ?? '', /^warning .*https only/)
  assert.match(line(out, 'store') ?? '', /^warning .*migrations pending: 0001-foundation/)
  assert.match(line(out, 'clock') ?? '', /^warning .* (59|60|61) s ahead/)
  assert.match(out.join('\n'), new RegExp(`^warning +outbound +${dead}: nothing listens there.*will not work`, 'm'))
})

test('doctor with a setting that is not valid fails, and continues with what it can check', async (t) => {
  const outside = await startAnswering(t, (_request, response) => response.end())
  const { code, out } = await runCli(t, ['doctor', '--outbound', outside], { PORT: 'http' })
  assert.equal(code, 1)
  assert.match(line(out, 'config') ?? '', /^failed .*PORT="http" must be/)
  assert.match(line(out, 'outbound') ?? '', /^ok /)
  assert.equal(line(out, 'store'), undefined)
})

test('doctor fails on a DATA_DIR that is a file, and on a newer database', async (t) => {
  const folder = await tempDir(t)
  const file = join(folder, 'data')
  await writeFile(file, '')
  const outside = await startAnswering(t, (_request, response) => response.end())
  const unusable = await runCliHere(t, ['doctor', '--outbound', outside], { DATA_DIR: file, PORT: '0' })
  assert.equal(unusable.code, 1)
  assert.match(line(unusable.out, 'DATA_DIR') ?? '', /^failed .*is not a folder/)

  await makeNewer(folder)
  const newer = await runCliHere(t, ['doctor', '--outbound', outside], { DATA_DIR: folder, PORT: '0' })
  assert.equal(newer.code, 1)
  assert.match(line(newer.out, 'store') ?? '', /^failed .*newer than this version \(9999-later\)/)
})

test('doctor does not take a database that this user may not look at for missing', async (t) => {
  // Stands for a file that belongs to someone else, which root may always open: it cannot be looked at either.
  const DATA_DIR = await tempDir(t)
  await symlink('tagwarden.db', join(DATA_DIR, 'tagwarden.db'))
  const outside = await startAnswering(t, (_request, response) => response.end())
  const { code, out } = await runCliHere(t, ['doctor', '--outbound', outside], { DATA_DIR, PORT: '0' })
  assert.equal(code, 1)
  assert.match(
    line(out, 'store') ?? '',
    /^failed .*tagwarden\.db is out of reach \(.*\): run this as a user who may read it/,
  )
})

test('doctor looks for no database where none was made yet, and makes none', async (t) => {
  const DATA_DIR = join(await tempDir(t), 'not', 'yet')
  const outside = await startAnswering(t, (_request, response) => response.end())
  const { code, out } = await runCliHere(t, ['doctor', '--outbound', outside], { DATA_DIR, PORT: '0' })
  assert.equal(code, 0)
  assert.match(line(out, 'DATA_DIR') ?? '', /^ok .*will be created/)
  assert.match(line(out, 'store') ?? '', /^ok .*the first start creates it/)
})

test('doctor asks the running service that holds the database, and fails when it does not answer', async (t) => {
  const DATA_DIR = await tempDir(t)
  const outside = await startAnswering(t, (_request, response) => response.end())
  const { port } = new URL((await startTestService(t, systemClock, { DATA_DIR })).url)
  const running = await runCli(t, ['doctor', '--outbound', outside], { DATA_DIR, PORT: port })
  assert.equal(running.code, 0)
  assert.match(line(running.out, 'store') ?? '', /^ok .*in use by the running service/)

  const elsewhere = new URL(await deadAddress()).port
  const silent = await runCliHere(t, ['doctor', '--outbound', outside], { DATA_DIR, PORT: elsewhere })
  assert.equal(silent.code, 1)
  assert.match(
    line(silent.out, 'store') ?? '',
    /^failed .*is in use by another Tagwarden process.*nothing listens there/,
  )
})

test('a Node older than the pinned one fails with the sources, and with the npm package one older than it asks for', () => {
  const levels = (hasSources: boolean) =>
    ['22.15.1', '22.16.0', '22.18.0', '24.0.0', '25.1.0'].map((version) => nodeFinding(version, hasSources).level)
  assert.deepEqual(levels(true), ['failed', 'failed', 'failed', 'ok', 'ok'])
  assert.deepEqual(levels(false), ['failed', 'ok', 'ok', 'ok', 'ok'])
  assert.match(nodeFinding('20.1.0', false).text, /is older than 22\.16: install a newer Node/)
})

test('little room on the disk is a warning, hardly any a failure', () => {
  assert.deepEqual(
    [5_000, 1_024, 1_023, 64, 63, 0].map((mib) => diskFinding(mib).level),
    ['ok', 'ok', 'warning', 'warning', 'failed', 'failed'],
  )
})

test('the clock is compared with the middle of the request, and the header with the middle of its second', () => {
  const date = 'Fri, 20 Nov 2026 09:40:00 GMT'
  const theirs = Date.parse(date) + 500
  assert.equal(skewOf(date, theirs - 100, theirs + 100), 0)
  assert.equal(skewOf(date, theirs + 6_900, theirs + 7_100), 7_000)
  assert.equal(skewOf(null, 0, 0), null)
  assert.equal(skewOf('yesterday', 0, 0), null)
})

const answerOf = (skewMs: number | null): OutboundAnswer => ({
  target: { url: 'https://a.example', needs: '' },
  failure: null,
  skewMs,
})

const CLOCKS: readonly [skews: (number | null)[], level: string, says: RegExp][] = [
  [[400], 'ok', /within 1 s/],
  [[-5_000, null], 'ok', /within 5 s/],
  [[8_200], 'warning', /8 s ahead/],
  [[-90_000, -91_000, 3], 'warning', /90 s behind/],
  [[100, 200, 900_000], 'ok', /within 1 s/],
  [[null], 'warning', /not compared/],
  [[], 'warning', /not compared/],
]

for (const [skews, level, says] of CLOCKS) {
  test(`clocks that differ by ${JSON.stringify(skews)} ms are ${level}`, () => {
    const finding = clockFinding(skews.map(answerOf))
    assert.equal(finding.level, level)
    assert.match(finding.text, says)
  })
}

const FILE_SYSTEMS: readonly [type: number, level: string, says: RegExp][] = [
  [0xef53, 'ok', /disk of this machine/],
  [0x9123683e, 'ok', /disk of this machine/],
  [0x6969, 'failed', /on NFS, where SQLite damages its files: use a disk of this machine, or DATABASE_URL/],
  [0xff534d42, 'failed', /on CIFS/],
  [0xff534d42 | 0, 'failed', /on CIFS/],
  [0x01021994, 'warning', /tmpfs.*use a folder on a disk/],
  [0x794c7630, 'warning', /inside this container.*mount a volume/],
  [0x65735546, 'warning', /FUSE.*if in doubt, use another folder/],
]

for (const [type, level, says] of FILE_SYSTEMS) {
  test(`a folder on a file system of kind ${type} is ${level}`, () => {
    const finding = findingOfType(type)
    assert.equal(finding.level, level)
    assert.match(finding.text, says)
  })
}

test('the last line of doctor counts a single warning as one', () => {
  const finding = (level: DoctorFinding['level']): DoctorFinding => ({ check: 'disk', level, text: '' })
  assert.equal(verdict([finding('ok'), finding('warning')]), '1 ok, 1 warning, 0 failed')
  assert.equal(verdict([finding('failed')]), '0 ok, 0 warnings, 1 failed')
})

test('too few open files and too little memory are warnings', () => {
  assert.equal(openFilesFinding(null), null)
  assert.equal(openFilesFinding(4_096)?.level, 'ok')
  assert.equal(openFilesFinding(Number.POSITIVE_INFINITY)?.text, 'unlimited')
  assert.match(openFilesFinding(1_024)?.text ?? '', /may have 1024 files and connections.*raise the limit/)
  assert.equal(memoryFinding(640).level, 'ok')
  assert.match(memoryFinding(256.5).text, /256 MiB, and the system kills what needs more: provide 640 MiB or more/)
})
