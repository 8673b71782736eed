import assert from 'node:assert/strict'
import { test } from 'node:test'
import { misspelt } from '../../src/cli/misspelt.ts'
import { storeName } from '../../src/cli/options.ts'

const NAMES: readonly [databaseUrl: string | null, name: string][] = [
  [null, 'DATA_DIR ./data'],
  ['postgres://db.example/tagwarden', 'PostgreSQL at db.example/tagwarden'],
  ['postgresql://user:s3cret@db.example:5433/tagwarden?sslmode=require', 'PostgreSQL at db.example:5433/tagwarden'],
  ['postgres://user:s3@cret@one:5432,two:5432/tagwarden', 'PostgreSQL at one:5432,two:5432/tagwarden'],
  ['postgres://user:s3cret@[::1]:5432/tagwarden#x', 'PostgreSQL at [::1]:5432/tagwarden'],
]

for (const [databaseUrl, name] of NAMES) {
  test(`${databaseUrl} is called ${name}`, () => assert.equal(storeName({ databaseUrl, dataDir: './data' }), name))
}

const TYPOS: readonly [given: string, meant: string | null][] = [
  ['ADMIN_TOKN', 'ADMIN_TOKEN'],
  ['ADMIN_TOKEN_FIEL', 'ADMIN_TOKEN_FILE'],
  ['DATADIR', 'DATA_DIR'],
  ['SMTP_FORM', 'SMTP_FROM'],
  ['CHAT_WEBHOOKS_URLS', 'CHAT_WEBHOOK_URL'],
  ['ADMIN_TOKEN', null],
  ['AMQP_URL', null],
  ['HTTP_URL', null],
  ['POSTGRES_PASSWORD', null],
  ['HOSTS', null],
]

for (const [given, meant] of TYPOS) {
  const title = meant === null ? `${given} is not taken for a misspelt setting` : `${given} is taken for ${meant}`
  test(title, () => {
    const said = `${given} is not a setting and has no effect: did you mean ${meant}?`
    assert.deepEqual(misspelt({ [given]: 'x' }), meant === null ? [] : [said])
  })
}

test('a setting that is set was not misspelt, whatever other variables there are', () => {
  assert.deepEqual(misspelt({ DATABASE_URI: 'x', DATABASE_URL: 'postgres://db.example/tagwarden' }), [])
  assert.equal(misspelt({ DATABASE_URI: 'x', DATABASE_URL: '' }).length, 1)
})
