import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Delta, Folder, foldJournal, foldOrphans, isFoldConflict } from '../../src/journal/index.ts'
import type { Store } from '../../src/store/index.ts'
import { addTo, deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { inTurns, type Step } from '../../testkit/turns.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const SITES = [1, 2, 3, 4]

/** A process that folds: each site makes a chunk of its own. */
const folderOn = (store: Store) => new Folder(store, () => 'client', { rowsPerChunk: 1 })

const oneEventEach = (sites: readonly number[]) => {
  const delta = new Delta()
  for (const siteNo of sites) addTo(delta, deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW))
  return delta
}

const totals = (store: Store, sites: readonly number[]) =>
  Promise.all(sites.map((siteNo) => totalEvents(store, siteNo)))

class Stopped extends Error {}

/** The same store, which does `act` before its batch number `call`, counted from 1. */
function actingBefore(store: Store, call: number, act: () => Promise<void>): Store {
  let calls = 0
  return steppingStore(store, async (what) => {
    if (what === 'batch' && ++calls === call) await act()
  })
}

const dying = async () => {
  throw new Stopped()
}

testOnEveryEngine(
  'a row that lands below a fold of higher rows, between two of its chunks, is counted as well',
  async (store) => {
    // Row 2 was reported as failed, and lands when sites 1 and 2 of row 3 are done.
    for (const seq of [1, 3]) await writeJournal(store, 'node', seq, oneEventEach(SITES))
    const late = actingBefore(store, 7, () => writeJournal(store, 'node', 2, oneEventEach(SITES)))
    await foldJournal(late, folderOn(late), { nodeId: 'node' })
    await foldJournal(store, folderOn(store), { nodeId: 'node' })
    assert.deepEqual(await totals(store, SITES), [3, 3, 3, 3])
  },
)

testOnEveryEngine('a row that lands below a fold that a crash cut off is counted as well', async (store) => {
  for (const seq of [2, 3]) await writeJournal(store, 'node', seq, oneEventEach(SITES))
  const cutOff = actingBefore(store, 3, dying)
  await assert.rejects(foldJournal(cutOff, folderOn(cutOff), { nodeId: 'node' }), Stopped)
  await writeJournal(store, 'node', 1, oneEventEach(SITES))
  assert.equal(await foldOrphans(store, ['node']), 0)
  assert.equal(await foldJournal(store, folderOn(store), { nodeId: 'node' }), 3)
  assert.deepEqual(await totals(store, SITES), [3, 3, 3, 3])
})

testOnEveryEngine('a run with one row deleted and another added is not the run that was read', async (store) => {
  await writeJournal(store, 'node', 1, oneEventEach([1]))
  await writeJournal(store, 'node', 3, oneEventEach([2]))
  let isFirst = true
  const racing = actingBefore(store, 1, async () => {
    if (!isFirst) return
    isFirst = false
    // Another process folds row 1, and row 2 lands: as many rows up to the last as before.
    await foldJournal(store, folderOn(store), { nodeId: 'node', lastSeq: 1 })
    await writeJournal(store, 'node', 2, oneEventEach([3]))
  })
  await foldJournal(racing, folderOn(racing), { nodeId: 'node' })
  assert.deepEqual(await totals(store, [1, 2, 3]), [1, 1, 1])
})

/** What a commit does: its row lands at once, late, or never. */
const fate = fc.constantFrom('lands', 'late', 'never')

testOnEveryEngine(
  'whenever rows land, and whichever process folds, stops or overtakes: each row that landed is counted once',
  async (store) => {
    let run = 0
    let requests = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 200 }),
        fc.nat(12),
        fc.boolean(),
        async (fates, choices, dyingAt, isHeavy) => {
          const nodeId = `node ${run}`
          const sites = SITES.map((siteNo) => run * SITES.length + siteNo)
          run++
          let landed = 0
          const land = async (seq: number) => {
            await writeJournal(store, nodeId, seq, oneEventEach(sites))
            landed++
          }
          const options = { rowsPerChunk: 1, ...(isHeavy ? { heavySite: 1 } : {}) }
          const foldOn = (own: Store) =>
            foldJournal(own, new Folder(own, () => 'client', options), { nodeId }).catch((thrown: unknown) => {
              if (!(thrown instanceof Stopped || isFoldConflict(thrown))) throw thrown
            })
          const owner = async (step: Step) => {
            const own = steppingStore(store, step)
            for (const [index, kind] of fates.entries()) {
              if (kind === 'lands') await land(index + 1)
              await step()
              await foldOn(own)
            }
          }
          const database = async (step: Step) => {
            for (const [index, kind] of fates.entries()) {
              for (let wait = 0; wait < 3; wait++) await step()
              if (kind === 'late') await land(index + 1)
            }
          }
          const heir = async (step: Step) => {
            await foldOn(steppingStore(actingBefore(store, dyingAt, dying), step))
            await foldOn(steppingStore(store, step))
          }
          let turn = 0
          await inTurns([owner, database, heir], (count) => (choices[turn++ % choices.length] ?? 0) % count)
          await foldJournal(store, new Folder(store, () => 'client', options), { nodeId })
          await foldAside(store, nodeId)
          assert.deepEqual(
            await totals(store, sites),
            sites.map(() => landed),
          )
          const usage = await store.read.selectFrom('client_usage').select('requests').executeTakeFirst()
          requests += landed * sites.length
          assert.equal(usage?.requests ?? 0, requests)
          assert.deepEqual(await store.read.selectFrom('journal').select('seq').execute(), [])
          assert.deepEqual(await store.read.selectFrom('folds').selectAll().execute(), [])
        },
      ),
      { numRuns: amount(25, 250), endOnFailure: true },
    )
  },
)

/** Folds the streams that were spilled from the node's. */
async function foldAside(store: Store, nodeId: string): Promise<void> {
  const streams = await store.read.selectFrom('journal').select('node_id').distinct().execute()
  for (const { node_id } of streams) {
    assert.ok(node_id.startsWith(`${nodeId}/`))
    await foldJournal(store, folderOn(store), { nodeId: node_id })
  }
}
