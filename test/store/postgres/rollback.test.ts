import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchOperation, Store } from '../../../src/store/index.ts'
import { backendOf, journalRow, journalSeqs, newDatabase, ofKind, openOn, type Wire, wireTo } from './support.ts'

/** The usual limits would take half a minute. */
const QUICK = { statement: 500, silence: 100 }

/** What becomes of the `rollback` on its way to the server. */
const FAULTS: Record<string, (wire: Wire) => Parameters<Wire['trap']>[1]> = {
  'is cut off': () => (_message, program) => {
    program.resetAndDestroy()
    return null
  },
  'gets no answer': (wire) => (message) => {
    wire.cut('answers')
    wire.forget()
    return message
  },
  'is refused by the server': () => (message) =>
    Buffer.from(message.toString('latin1').replace('rollback', 'rollbakc'), 'latin1'),
}

/** A condition that does not hold. */
const impossible = (store: Store): BatchOperation => ({
  kind: 'statement',
  query: store.write.deleteFrom('leases').compile(),
  expectChanges: 1,
})

/** What writes row 2 and then fails, each with why. */
const FAILURES: Record<
  string,
  { fail: (store: Store) => Promise<unknown>; why: Parameters<typeof assert.rejects>[1] }
> = {
  batch: {
    fail: (store) => store.batch([journalRow(store, 2), impossible(store)]),
    why: ofKind('unexpected_changes'),
  },
  transaction: {
    fail: (store) =>
      store.write.transaction().execute(async (trx) => {
        await trx.insertInto('journal').values({ node_id: 'n', seq: 2, written_at: 0, payload: 'undone' }).execute()
        throw new Error('it was not to be')
      }),
    why: /it was not to be/,
  },
}

for (const [fault, spring] of Object.entries(FAULTS)) {
  for (const [what, { fail, why }] of Object.entries(FAILURES)) {
    test(`when the rollback of a ${what} ${fault}, the caller gets its first error, nothing of it stays, and another connection goes on`, async (t) => {
      const url = await newDatabase(t)
      const wire = await wireTo(t, url)
      const [store, other] = [await openOn(t, wire.url, { limits: QUICK }), await openOn(t, url)]
      await store.batch([journalRow(store, 1)])
      const backend = await backendOf(store.write)
      let hasSprung = false
      const springOnWire = spring(wire)
      wire.trap('rollback', (message, program) => {
        hasSprung = true
        return springOnWire(message, program)
      })
      await assert.rejects(fail(store), why)
      assert.equal(hasSprung, true)
      // The same row: on the old connection, or beside its transaction, it could not be written.
      await store.batch([journalRow(store, 2), journalRow(store, 3)])
      await store.write.transaction().execute((trx) => trx.deleteFrom('leases').execute())
      assert.notEqual(await backendOf(store.write), backend)
      assert.deepEqual(await journalSeqs(other), [1, 2, 3])
    })
  }
}
