import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import pg from 'pg'
import { inTurn } from '../../testkit/length.ts'
import { startPostgres } from '../../testkit/postgres/databases.ts'
import { until } from '../../testkit/until.ts'

async function answerOf(connectionString: string, query: string): Promise<unknown> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  // Of a server that is stopped while this is connected.
  client.on('error', () => undefined)
  try {
    const { rows } = await client.query({ text: query, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

test('a PostgreSQL of a test keeps address and data however it was stopped, and logs it', inTurn(0, 3), async (t) => {
  const server = await startPostgres(t, { durable: true })
  await answerOf(server.url, 'create table notes (id int)')
  for (const mode of ['fast', 'immediate', 'kill'] as const) {
    await answerOf(server.url, 'insert into notes values (1)')
    await server.stop(mode)
    await assert.rejects(answerOf(server.url, 'select 1'), { code: 'ECONNREFUSED' })
    await server.start()
  }
  assert.equal(await answerOf(server.url, 'select count(*)::int from notes'), 3)
  assert.equal(await answerOf(server.url, 'show fsync'), 'on')
  const log = await server.log()
  assert.match(log, /received fast shutdown request/)
  assert.match(log, /received immediate shutdown request/)
  assert.equal(log.match(/was not properly shut down/g)?.length, 2)
})

for (const [n, signal] of (['SIGKILL', 'SIGTERM'] as const).entries()) {
  test(`a PostgreSQL server and its files are gone when its process ends by ${signal}`, inTurn(1 + n, 3), async (t) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'postgres-process.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const [adminUrl] = (await once(createInterface(child.stdout), 'line')) as [string]
    const folder = String(await answerOf(adminUrl, 'show data_directory'))
    await access(folder)
    child.kill(signal)
    await until('no folder', () =>
      access(folder).then(
        () => undefined,
        () => true,
      ),
    )
    await assert.rejects(answerOf(adminUrl, 'select 1'), { code: 'ECONNREFUSED' })
  })
}
