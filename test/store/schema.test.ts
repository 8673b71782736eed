import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sqliteSchema } from '../../scripts/sqlite-schema.ts'

const committed = readFileSync(join(import.meta.dirname, '../../src/store/schema/sqlite.sql'), 'utf8')

test('src/store/schema/sqlite.sql is what the migrations end in', async () => {
  assert.equal(committed, await sqliteSchema())
})

test('src/store/schema/sqlite.sql can be run as it stands', (t) => {
  const db = new DatabaseSync(':memory:')
  t.after(() => db.close())
  db.exec(committed)
  const { tables } = { ...db.prepare("select count(*) as tables from sqlite_schema where type = 'table'").get() }
  assert.ok(Number(tables) >= committed.split('CREATE TABLE ').length - 1)
})
