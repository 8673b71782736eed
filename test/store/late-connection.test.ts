import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LateConnection } from '../../src/store/sqlite/late-connection.ts'
import { type Connection, NO_ANSWER } from '../../src/store/sqlite/protocol.ts'

const request = { kind: 'query', sql: 'select 1', parameters: [] } as const

/** Opens connections that count what happens to them; the first `failures` times it fails. */
function opener(failures = 0) {
  const counts = { tries: 0, requests: 0, closed: 0 }
  const open = async (): Promise<Connection> => {
    counts.tries += 1
    if (counts.tries <= failures) throw new Error('too many open files')
    return {
      request: async () => {
        counts.requests += 1
        return NO_ANSWER
      },
      close: async () => {
        counts.closed += 1
      },
    }
  }
  return { counts, open }
}

test('a late connection opens once, with its first request, and closes', async () => {
  const { counts, open } = opener()
  const connection = new LateConnection(open)
  assert.equal(counts.tries, 0)
  await Promise.all([connection.request(request), connection.request(request)])
  await connection.close()
  assert.deepEqual(counts, { tries: 1, requests: 2, closed: 1 })
})

test('a late connection that was never asked opens nothing to close, and answers nothing any more', async () => {
  const { counts, open } = opener()
  const connection = new LateConnection(open)
  await connection.close()
  await assert.rejects(connection.request(request), { kind: 'closed', message: 'the database is closed' })
  assert.equal(counts.tries, 0)
})

test('a late connection that could not be opened says why, and is opened by the next request', async () => {
  const { counts, open } = opener(1)
  const connection = new LateConnection(open)
  await assert.rejects(connection.request(request), /too many open files/)
  await connection.request(request)
  await connection.close()
  assert.deepEqual(counts, { tries: 2, requests: 1, closed: 1 })
})

test('a late connection whose opening fails while it closes has closed', async () => {
  const { counts, open } = opener(1)
  const connection = new LateConnection(open)
  const asked = assert.rejects(connection.request(request), /too many open files/)
  await connection.close()
  await asked
  assert.equal(counts.closed, 0)
})
