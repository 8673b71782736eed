import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Folder, foldJournal } from '../../src/journal/index.ts'
import { NameBook } from '../../src/journal/names.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { LINKS_PER_DAY, NAMES_PER_DAY, OTHER } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn } from '../../testkit/counts.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const SITE = 7

/** A process on a database that it shares with others, and how often it has read names. */
function process(store: Store, nodeId: string) {
  let seq = 0
  const reads = { count: 0 }
  const counting = steppingStore({ ...store, isShared: true }, async (what) => {
    if (what === 'read') reads.count++
  })
  const folder = new Folder(counting, () => 'client')
  /** Folds one event of each name. */
  const count = async (names: readonly string[]) => {
    const payloads = names.map((name) => eventPayload({ timestamp_ms: NOW, event_name: name, tags: [] }))
    await writeJournal(store, nodeId, ++seq, deltaOf(SITE, payloads, NOW))
    await foldJournal(store, folder, { nodeId })
  }
  return { count, reads }
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `event ${from + i}`)

const counted = async (store: Store) => {
  const rows = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select(['event_name', 'events'])
    .execute()
  return new Map(rows.map((row) => [row.event_name, row.events]))
}

testOnEveryEngine('a site gets as many names from several processes as from one', async (store) => {
  const one = process(store, 'one')
  const other = process(store, 'other')
  await one.count(names(0, 1))
  await other.count(names(0, 1))
  await one.count(names(1, NAMES_PER_DAY - 100))
  await other.count(names(NAMES_PER_DAY - 200, NAMES_PER_DAY + 50))
  const events = await counted(store)
  assert.equal(events.size, NAMES_PER_DAY + 1)
  assert.equal(events.get(OTHER), 50)
  assert.equal(events.get('event 0'), 2)
  assert.equal(events.get(`event ${NAMES_PER_DAY - 150}`), 2)
})

testOnEveryEngine(
  'names are read again for a new one, not for known ones, nor when there is no more room',
  async (store) => {
    const { count, reads } = process(store, 'node')
    const readsOf = async (events: readonly string[]) => {
      reads.count = 0
      await count(events)
      return reads.count
    }
    assert.equal(await readsOf(['a', 'b\0']), 1)
    assert.equal(await readsOf(['a', 'b\0', OTHER]), 0)
    assert.equal(await readsOf(['a', 'c']), 1)
    assert.equal(await readsOf(names(0, NAMES_PER_DAY)), 1)
    assert.equal(await readsOf(['one too many', ...names(0, 10)]), 0)
    assert.equal((await counted(store)).get(OTHER), 5)
  },
)

test('an id that has two names by turns is linked again once a minute, so that the newest name wins', () => {
  const book = new NameBook(0)
  const link = (name: string, lastSeenAt: number) => book.linkId({ containerId: 'GTM-A', id: '7', name, lastSeenAt })
  const writtenIn = (minute: number) =>
    Array.from({ length: 100 }, (_, i) => link(i % 2 === 0 ? 'GA4' : 'Meta CAPI', minute * MINUTE + i)).filter(
      (outcome) => outcome === 'link',
    ).length
  assert.deepEqual([0, 1, 2].map(writtenIn), [2, 2, 2])
  assert.equal(link('GA4', 5 * MINUTE), 'link')
  assert.equal(link('GA4', 6 * MINUTE), 'known')
})

test('links past the cap of a day are not made, whichever ids and names they are of', () => {
  const book = new NameBook(0)
  const outcomes = Array.from({ length: LINKS_PER_DAY + 500 }, (_, i) =>
    book.linkId({ containerId: 'GTM-A', id: String(i % 40), name: `Tag ${i}`, lastSeenAt: i }),
  )
  assert.equal(outcomes.filter((outcome) => outcome === 'link').length, LINKS_PER_DAY)
  assert.equal(outcomes.filter((outcome) => outcome === 'full').length, 1)
  assert.equal(outcomes.at(-1), 'known')
})
