import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readConfig, SETTINGS } from '../../src/config.ts'
import { tempDir } from '../../testkit/engines.ts'
import { refusalOf } from './support.ts'

const ADMIN = 'admin-token-0123456789'
const SECRETS = Object.values(SETTINGS).filter(({ secret }) => secret)

async function fileWith(t: TestContext, text: string): Promise<string> {
  const path = join(await tempDir(t), 'secret')
  await writeFile(path, text)
  return path
}

const TOKEN = 'must be 16 to 512 visible ASCII characters without spaces'
const DATABASE = 'must be an address like postgres://user:password@host:5432/database'
const WEBHOOK = 'must be an address like https://hooks.example.com/services/…'
const ALLOWED: Record<string, string> = {
  DATABASE_URL: DATABASE,
  DATABASE_READ_URL: DATABASE,
  ADMIN_TOKEN: TOKEN,
  VIEWER_TOKEN: TOKEN,
  OIDC_CLIENT_SECRET: TOKEN,
  CHAT_WEBHOOK_URL: WEBHOOK,
  WEBHOOK_SECRET: TOKEN,
  SMTP_URL: 'must be an address like smtp://user:password@mail.example.com:587 or smtps://…',
  HEARTBEAT_URL: WEBHOOK,
  GOOGLE_CREDENTIALS: 'must be the JSON key of a service account',
  HOSTING_A_TOKEN: TOKEN,
  HOSTING_B_TOKEN: TOKEN,
}

test('the tokens, keys and addresses with a password in them are secrets', () => {
  assert.deepEqual(
    SECRETS.map(({ name }) => name),
    Object.keys(ALLOWED),
  )
})

for (const [name, allowed] of Object.entries(ALLOWED)) {
  for (const value of ['hunter2', 'with a space in it', 'ключ-ключ-ключ-ключ', 'k'.repeat(513)]) {
    test(`a ${name} that is not valid is refused without being shown: ${value.slice(0, 20)}`, () => {
      assert.equal(refusalOf({ [name]: value }), `${name} ${allowed}`)
    })
  }

  test(`${name} from a file is refused without being shown, too`, async (t) => {
    const line = refusalOf({ [`${name}_FILE`]: await fileWith(t, 'hunter2') })
    assert.equal(line, `${name} ${allowed}`)
  })
}

test('a secret may stand in a file, with a line break behind it', async (t) => {
  const ADMIN_TOKEN_FILE = await fileWith(t, `${ADMIN}\n`)
  assert.equal(readConfig({ ADMIN_TOKEN_FILE }).adminToken, ADMIN)
  assert.equal(readConfig({ HOST: '0.0.0.0', ADMIN_TOKEN_FILE }).adminToken, ADMIN)
})

test('a secret given twice is refused', async (t) => {
  const line = refusalOf({ ADMIN_TOKEN: ADMIN, ADMIN_TOKEN_FILE: await fileWith(t, ADMIN) })
  assert.equal(line, 'ADMIN_TOKEN and ADMIN_TOKEN_FILE are both set: keep one')
})

test('a file that cannot be read is named', async (t) => {
  const path = join(await tempDir(t), 'nowhere')
  assert.equal(refusalOf({ ADMIN_TOKEN_FILE: path }), `ADMIN_TOKEN_FILE=${JSON.stringify(path)} cannot be read`)
})

test('a file that is empty is refused, and does not stand for a secret that is not set', async (t) => {
  const path = await fileWith(t, ' \n')
  const said = (name: string) => `${name}=${JSON.stringify(path)} is empty: put the value into it`
  for (const name of ['DATABASE_URL_FILE', 'ADMIN_TOKEN_FILE']) assert.equal(refusalOf({ [name]: path }), said(name))
})

test('what is no secret is not read from a file', async (t) => {
  assert.equal(readConfig({ PORT_FILE: await fileWith(t, '1') }).port, 8080)
})
