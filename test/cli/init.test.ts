import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'
import { envText, withToken } from '../../src/cli/init/answers.ts'
import { openTerminal, type Terminal, withDefaults } from '../../src/cli/init/ask.ts'
import { initAt } from '../../src/cli/init/index.ts'
import { readConfig } from '../../src/config.ts'
import { tempDir } from '../../testkit/engines.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli } from '../../testkit/processes/command-line.ts'

const URL = 'https://tagwarden.example.com'

/** Someone who answers one after the other, and then no more. */
function answering(t: TestContext, answers: readonly string[]): { terminal: Terminal; said: () => string } {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const said: string[] = []
  output.on('data', (chunk: Buffer) => said.push(chunk.toString()))
  const terminal = openTerminal(input, output)
  t.after(() => terminal.close())
  const left = [...answers]
  const ask: Terminal['ask'] = (question) => {
    const answered = terminal.ask(question)
    const answer = left.shift()
    if (answer === undefined) input.end()
    else input.write(`${answer}\n`)
    return answered
  }
  return { terminal: { ...terminal, ask }, said: () => said.join('') }
}

const settingsIn = async (file: string) => parseEnv(await readFile(file, 'utf8'))

test('four empty answers give what tries it on this machine', async (t) => {
  const file = join(await tempDir(t), '.env')
  const { terminal } = answering(t, ['', '', '', ''])
  await initAt(terminal, { file })
  assert.deepEqual({ ...(await settingsIn(file)) }, { DATA_DIR: './data' })
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('the answers are what the service starts with', async (t) => {
  const file = join(await tempDir(t), '.env')
  const hook = 'https://hooks.example.com/services/T0/B0/x'
  const { terminal } = answering(t, [`${URL}/`, 'postgres://tagwarden:pa#ss@db:5432/t', 'random', hook])
  await initAt(terminal, { file })
  const config = readConfig(await settingsIn(file))
  assert.equal(config.publicUrl, URL)
  assert.equal(config.databaseUrl, 'postgres://tagwarden:pa#ss@db:5432/t')
  assert.match(config.adminToken ?? '', /^[0-9a-f]{64}$/)
  assert.equal(config.chatWebhookUrl, hook)
  assert.deepEqual(config.trustProxy, ['loopback'])
})

test('answers that are pasted together each answer their question', async (t) => {
  const file = join(await tempDir(t), '.env')
  const [input, output] = [new PassThrough(), new PassThrough()]
  const terminal = openTerminal(input, output)
  t.after(() => terminal.close())
  input.end(`${URL}\n./there\nrandom\n\n`)
  await initAt(terminal, { file })
  const { PUBLIC_URL, DATA_DIR } = await settingsIn(file)
  assert.deepEqual([PUBLIC_URL, DATA_DIR], [URL, './there'])
})

test('what is not valid is asked again, with what is allowed', async (t) => {
  const file = join(await tempDir(t), '.env')
  const { terminal, said } = answering(t, [
    'tagwarden',
    URL,
    'mysql://db',
    '/var/lib/tagwarden',
    'none',
    'short',
    'random',
    'x',
    '',
  ])
  await initAt(terminal, { file })
  const text = said()
  for (const words of [
    /That does not work: it must be an address like https:/,
    /That does not work: it must be a folder, or an address that begins with postgres:/,
    /That does not work: .*management would need no key/,
    /That does not work: ADMIN_TOKEN must be 16 to 512/,
    /hooks\.example/,
  ]) {
    assert.match(text, words)
  }
  assert.deepEqual(Object.keys(await settingsIn(file)).sort(), ['ADMIN_TOKEN', 'DATA_DIR', 'PUBLIC_URL', 'TRUST_PROXY'])
})

test('a token is never the same twice, and never in what is said', async (t) => {
  const folder = await tempDir(t)
  const tokens = []
  for (const name of ['a', 'b']) {
    const { terminal, said } = answering(t, [URL, '', '', ''])
    await initAt(terminal, { file: join(folder, name) })
    const { ADMIN_TOKEN = '' } = await settingsIn(join(folder, name))
    assert.equal(said().includes(ADMIN_TOKEN), false)
    tokens.push(ADMIN_TOKEN)
  }
  assert.equal(new Set(tokens).size, 2)
})

for (const answer of ['', 'no', 'yesterday']) {
  test(`a file that is there stays after "${answer}"`, async (t) => {
    const file = join(await tempDir(t), '.env')
    await writeFile(file, 'PORT=9000\n')
    const { terminal } = answering(t, [answer])
    await assert.rejects(initAt(terminal, { file }), /stays as it is/)
    assert.equal(await readFile(file, 'utf8'), 'PORT=9000\n')
  })
}

test('a file that is there is replaced after a yes, and is then for its owner alone', async (t) => {
  const folder = await tempDir(t)
  const file = join(folder, '.env')
  await writeFile(file, 'PORT=9000\n', { mode: 0o644 })
  const { terminal } = answering(t, ['yes', '', '', '', ''])
  await initAt(terminal, { file })
  assert.deepEqual({ ...(await settingsIn(file)) }, { DATA_DIR: './data' })
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(folder), ['.env'])
})

test('who leaves before the last question leaves nothing', async (t) => {
  const folder = await tempDir(t)
  const { terminal } = answering(t, [URL, ''])
  await assert.rejects(initAt(terminal, { file: join(folder, '.env') }), /no answer: nothing was written/)
  assert.deepEqual(await readdir(folder), [])
})

test('values that look like syntax are read back as they are', () => {
  const base = withDefaults({})
  for (const chatWebhook of [
    'https://x.example/a#b',
    "https://x.example/it's",
    'https://x.example/"q"',
    'https://x.example/$HOME',
  ]) {
    assert.equal(parseEnv(envText({ ...base, chatWebhook })).CHAT_WEBHOOK_URL, chatWebhook)
  }
  const mixed = 'https://x.example/\'"`#'
  assert.throws(() => envText({ ...base, chatWebhook: mixed }), /CHAT_WEBHOOK_URL has characters/)
})

test('every line of the file is a comment, a setting or empty, and says which settings there are', () => {
  const text = envText(withToken(withDefaults({ publicUrl: URL })))
  for (const line of text.split('\n')) assert.match(line, /^(#.*|[A-Z_]+=\S+|)$/)
  for (const name of ['DATA_DIR', 'DATABASE_URL', 'CHAT_WEBHOOK_URL'])
    assert.match(text, new RegExp(`^#?${name}=`, 'm'))
})

test('without a terminal it asks nothing', async (t) => {
  const folder = await tempDir(t)
  const file = join(folder, 'settings')
  const refused = await runCli(t, ['init', '--file', file])
  assert.equal(refused.code, 1)
  assert.match(refused.err.join('\n'), /there is no terminal to ask questions on: give --yes/)
  const first = await runCli(t, ['init', '--yes', '--public-url', URL, '--file', file])
  assert.deepEqual({ code: first.code, err: first.err }, { code: 0, err: [] })
  assert.match(first.out.join('\n'), /Sign in on the dashboard with the ADMIN_TOKEN in it/)
  const kept = await readFile(file, 'utf8')
  const second = await runCliHere(t, ['init', '--yes', '--file', file])
  assert.equal(second.code, 1)
  assert.match(second.err.join('\n'), /already exists: give --force/)
  assert.equal(await readFile(file, 'utf8'), kept)
  const forced = await runCliHere(t, ['init', '--yes', '--force', '--file', file], { DATA_DIR: '/elsewhere' })
  assert.equal(forced.code, 0)
  assert.match(forced.out.join('\n'), /DATA_DIR is set to another value in the environment/)
})

for (const [what, args, says] of [
  ['an address that is none', ['--public-url', 'tagwarden'], /--public-url must be an address like/],
  ['a short token', ['--admin-token', 'short'], /ADMIN_TOKEN must be 16 to 512/],
  ['an open address without a token', ['--public-url', URL, '--admin-token', 'none'], /management would need no key/],
  ['a database of another kind', ['--data', 'mysql://db'], /--data must be a folder/],
] as const) {
  test(`init refuses ${what} and writes nothing`, async (t) => {
    const folder = await tempDir(t)
    const { code, err } = await runCliHere(t, ['init', '--yes', '--file', join(folder, '.env'), ...args])
    assert.equal(code, 1)
    assert.equal(err.length, 1)
    assert.match(err[0] ?? '', says)
    assert.deepEqual(await readdir(folder), [])
  })
}

test('an option that is not valid is named on a terminal, too, before a question is asked', async (t) => {
  const folder = await tempDir(t)
  const { terminal, said } = answering(t, [])
  await assert.rejects(initAt(terminal, { file: join(folder, '.env'), publicUrl: 'tagwarden' }), {
    name: 'StartupError',
    message: /^--public-url must be an address like/,
  })
  assert.deepEqual([said(), await readdir(folder)], ['', []])
})

test('a file that is a link is overwritten where the link leads', async (t) => {
  const folder = await tempDir(t)
  const [file, real] = [join(folder, '.env'), join(folder, 'real.env')]
  await writeFile(real, 'LOG_LEVEL=debug\n')
  await symlink('real.env', file)
  assert.equal((await runCliHere(t, ['init', '--yes', '--force', '--file', file])).code, 0)
  assert.equal(await readlink(file), 'real.env')
  assert.match(await readFile(real, 'utf8'), /PUBLIC_URL/)
})

test('a folder in the place of the file is said in one line', async (t) => {
  const file = join(await tempDir(t), '.env')
  await mkdir(file)
  const { code, err } = await runCliHere(t, ['init', '--yes', '--force', '--file', file])
  assert.equal(code, 1)
  assert.match(err[0] ?? '', /cannot be written/)
})
