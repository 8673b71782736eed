import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Delta, Folder, foldJournal, isFoldConflict, readFoldTask } from '../../src/journal/index.ts'
import { startOfLane } from '../../src/journal/lanes.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn } from '../../testkit/counts.ts'
import { addTo, deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { inTurns, type Step } from '../../testkit/turns.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const SITES = [1, 2, 3, 4]
const ROWS = 3

/** A process that folds: each site makes a chunk of its own. */
const folderOn = (store: Store) => new Folder(store, () => 'client', { rowsPerChunk: 1 })

const oneEventEach = (sites: readonly number[]) => {
  const delta = new Delta()
  for (const siteNo of sites) addTo(delta, deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW))
  return delta
}

async function writeRows(store: Store, nodeId: string, sites: readonly number[], first = 1): Promise<void> {
  for (let seq = first; seq < first + ROWS; seq++) await writeJournal(store, nodeId, seq, oneEventEach(sites))
}

/** Nothing is left to fold, and each site has `events` events. */
async function assertFolded(store: Store, sites: readonly number[], events: number, what = ''): Promise<void> {
  const rows = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select(['site_no', 'total'])
    .where('site_no', 'in', sites)
    .orderBy('site_no')
    .execute()
  assert.deepEqual(
    rows,
    sites.map((site_no) => ({ site_no, total: events })),
    what,
  )
  assert.deepEqual(await store.read.selectFrom('journal').select('seq').execute(), [], what)
  assert.deepEqual(await store.read.selectFrom('folds').selectAll().execute(), [], what)
}

class Stopped extends Error {}

/** A store whose process ends before batch number `calls`, counted from 0. */
function endingBefore(store: Store, calls: number): Store {
  let call = 0
  return steppingStore(store, async (what) => {
    if (what === 'batch' && call++ === calls) throw new Stopped()
  })
}

testOnEveryEngine(
  'a fold that another process overtakes, at any point and by any distance, counts once',
  async (store) => {
    let run = 0
    const points = async (overtake: (point: number, nodeId: string) => Promise<void>) => {
      const nodeId = `node ${run}`
      const sites = SITES.map((siteNo) => run * SITES.length + siteNo)
      run++
      await writeRows(store, nodeId, sites)
      let point = 0
      const slow = steppingStore(store, () => overtake(point++, nodeId))
      await foldJournal(slow, folderOn(slow), { nodeId })
      await assertFolded(store, sites, ROWS)
      return point
    }
    const count = await points(async () => undefined)
    assert.ok(count > SITES.length)
    for (let at = 0; at < count; at++) {
      for (let chunks = 1; chunks <= SITES.length; chunks++) {
        const quick = endingBefore(store, chunks)
        await points(async (point, nodeId) => {
          if (point !== at) return
          try {
            await foldJournal(quick, folderOn(quick), { nodeId })
          } catch (thrown) {
            assert.ok(thrown instanceof Stopped)
          }
        })
      }
    }
  },
)

testOnEveryEngine(
  'a fold that begins with rows which another process has since folded changes nothing',
  async (store) => {
    await writeRows(store, 'node', SITES)
    const task = await readFoldTask(store, 'node')
    assert.ok(task)
    await foldJournal(store, folderOn(store), { nodeId: 'node' })
    await assert.rejects(folderOn(store).fold(task), isFoldConflict)
    await assertFolded(store, SITES, ROWS)
  },
)

testOnEveryEngine('a fold that another has finished does not go on into the next one', async (store) => {
  const foldOneChunk = () => {
    const ending = endingBefore(store, 1)
    return assert.rejects(foldJournal(ending, folderOn(ending), { nodeId: 'node' }), Stopped)
  }
  await writeRows(store, 'node', SITES)
  await foldOneChunk()
  const task = await readFoldTask(store, 'node')
  assert.ok(task)
  await foldJournal(store, folderOn(store), { nodeId: 'node' })
  await writeRows(store, 'node', SITES, task.lastSeq + 1)
  await foldOneChunk()
  await assert.rejects(folderOn(store).fold(task), isFoldConflict)
  await foldJournal(store, folderOn(store), { nodeId: 'node' })
  await assertFolded(store, SITES, 2 * ROWS)
})

testOnEveryEngine('processes that fold a node at once, in any order, count each row once', async (store) => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(), { minLength: 1, maxLength: 300 }),
      fc.nat(2 * SITES.length),
      async (choices, chunksOfTheDying) => {
        const nodeId = `node ${run}`
        const sites = SITES.map((siteNo) => run * SITES.length + siteNo)
        run++
        /** Commits rows and folds up to them, as a live node does. */
        const owner = async (step: Step) => {
          const own = steppingStore(store, step)
          const folder = folderOn(own)
          for (let seq = 1; seq <= ROWS; seq++) {
            await writeJournal(store, nodeId, seq, oneEventEach(sites))
            await step()
            await foldJournal(own, folder, { nodeId, lastSeq: seq }).catch(ignoreConflict)
          }
        }
        /** Takes the node for dead. */
        const heir = async (step: Step) => {
          const theirs = steppingStore(store, step)
          await step()
          await foldJournal(theirs, folderOn(theirs), { nodeId }).catch(ignoreConflict)
          await foldJournal(theirs, folderOn(theirs), { nodeId }).catch(ignoreConflict)
        }
        const dyingHeir = async (step: Step) => {
          const theirs = steppingStore(endingBefore(store, chunksOfTheDying), step)
          await foldJournal(theirs, folderOn(theirs), { nodeId }).catch((thrown: unknown) => {
            if (!(thrown instanceof Stopped)) ignoreConflict(thrown)
          })
        }
        let turn = 0
        await inTurns([owner, heir, dyingHeir], (count) => (choices[turn++ % choices.length] ?? 0) % count)
        await foldJournal(store, folderOn(store), { nodeId })
        await assertFolded(store, sites, ROWS)
      },
    ),
    { numRuns: amount(15, 150) },
  )
})

testOnEveryEngine(
  'processes that fold the lanes of a node at once, in any order, count each row once',
  async (store) => {
    const lanes = [1, 2, 3]
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(), { minLength: 1, maxLength: 300 }),
        fc.nat(6),
        async (choices, chunksOfTheDying) => {
          const nodeId = `busy ${run}`
          const sites = SITES.map((siteNo) => 100_000 + run * SITES.length + siteNo)
          run++
          const rangeOf = (lane: number, lastSeq = startOfLane(lane + 1) - 1) => ({
            nodeId,
            firstSeq: startOfLane(lane),
            lastSeq,
          })
          /** Commits a row in each lane at a time, and folds the lanes one by one. */
          const owner = async (step: Step) => {
            const own = steppingStore(store, step)
            const folder = folderOn(own)
            for (let nth = 1; nth <= ROWS; nth++) {
              for (const lane of lanes) await writeJournal(store, nodeId, startOfLane(lane) + nth, oneEventEach(sites))
              await step()
              const lane = lanes[nth % lanes.length] ?? 1
              await foldJournal(own, folder, rangeOf(lane, startOfLane(lane) + nth)).catch(ignoreConflict)
            }
          }
          /** Wants to show the counts of one lane. */
          const reader = (lane: number, target: Store) => async (step: Step) => {
            const theirs = steppingStore(target, step)
            for (let times = 0; times < 2; times++) {
              await step()
              await foldJournal(theirs, folderOn(theirs), rangeOf(lane)).catch((thrown: unknown) => {
                if (!(thrown instanceof Stopped)) ignoreConflict(thrown)
              })
            }
          }
          let turn = 0
          await inTurns(
            [owner, reader(2, store), reader(3, store), reader(1, endingBefore(store, chunksOfTheDying))],
            (count) => (choices[turn++ % choices.length] ?? 0) % count,
          )
          await foldJournal(store, folderOn(store), { nodeId })
          await assertFolded(store, sites, ROWS * lanes.length)
        },
      ),
      { numRuns: amount(15, 150) },
    )
  },
)

function ignoreConflict(thrown: unknown): void {
  if (!isFoldConflict(thrown)) throw thrown
}

testOnEveryEngine('processes that fold many nodes at once, each on its own, count each row once', async (store) => {
  const nodes = ['a', 'b', 'c']
  for (const nodeId of nodes) await writeRows(store, nodeId, SITES)
  await Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      const folder = folderOn(store)
      const order = [...nodes.slice(i % nodes.length), ...nodes.slice(0, i % nodes.length)]
      for (const nodeId of order) {
        for (let isDone = false; !isDone; ) {
          isDone = await foldJournal(store, folder, { nodeId }).then(
            () => true,
            (thrown: unknown) => {
              ignoreConflict(thrown)
              return false
            },
          )
        }
      }
    }),
  )
  await assertFolded(store, SITES, ROWS * nodes.length)
})
