import assert from 'node:assert/strict'
import { test } from 'node:test'
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
