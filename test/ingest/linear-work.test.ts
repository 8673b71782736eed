import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPayload } from '../../src/ingest/check.ts'
import { appendPayload } from '../../src/ingest/index.ts'
import { addLog, appendDelta, Delta, type Log } from '../../src/rollups/index.ts'
import { NameBooks } from '../../src/rollups/names.ts'
import { FoldRows } from '../../src/rollups/rows.ts'
import type { Store } from '../../src/store/index.ts'
import { openEmptyStore, sqlite } from '../support/engines.ts'
import { HOSTILE_SHAPES } from '../support/hostile-bodies.ts'

const NOW = Date.parse('2026-11-20T23:59:30.000Z')
const SITE = 7
const SMALL_BYTES = 100_000
const TIMES_LARGER = 16
/**
 * Linear work takes 16 times as long, quadratic work 256 times. What lies between is for the
 * garbage collector, caches and other work on the machine: the shortest of several rounds is compared.
 */
const LONGER_AT_MOST = 90
const ROUNDS = 3
const ROUNDS_AT_MOST = 12

/** All that the main thread does with these requests, from their text to the rows of the fold, in ms. */
async function work(store: Store, bodies: readonly string[]): Promise<number> {
  const books = new NameBooks(store)
  const began = performance.now()
  const log: Log = []
  for (const body of bodies) {
    const payload = parsed(body)
    if (payload !== undefined) appendPayload(log, SITE, payload, NOW)
  }
  // The commit adds a group up before it writes it.
  const group: Log = []
  appendDelta(group, sumOf(log))
  const delta = sumOf(JSON.parse(JSON.stringify(group)) as Log)
  const before = performance.now() - began
  await books.load(delta, delta.sites.keys())
  const resumed = performance.now()
  const rows = new FoldRows()
  for (const [siteNo, site] of delta.sites) rows.addSite(siteNo, 'client', site, books)
  rows.operations()
  return before + (performance.now() - resumed)
}

function parsed(body: string) {
  try {
    const checked = checkPayload(JSON.parse(body))
    return checked.ok ? checked.payload : undefined
  } catch (thrown) {
    assert.ok(thrown instanceof SyntaxError)
    return undefined
  }
}

function sumOf(log: Log): Delta {
  const delta = new Delta()
  addLog(delta, log)
  return delta
}

test('whatever requests hold, the work they make grows with their bytes and no faster', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  for (const [shape, bodiesOf] of Object.entries(HOSTILE_SHAPES)) {
    const small = bodiesOf(SMALL_BYTES, NOW)
    const large = bodiesOf(SMALL_BYTES * TIMES_LARGER, NOW)
    let [shortest, longest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    // Below a millisecond the clock and the first steps count for more than the work.
    const isLinear = () => longest < Math.max(shortest, 1) * LONGER_AT_MOST
    // On a busy machine a round may be held up; work that grows faster is too long in every one.
    for (let round = 0; round < ROUNDS || (!isLinear() && round < ROUNDS_AT_MOST); round++) {
      shortest = Math.min(shortest, await work(store, small))
      longest = Math.min(longest, await work(store, large))
    }
    t.diagnostic(
      `${shape}: ${shortest.toFixed(2)} and ${longest.toFixed(2)} ms, ${(longest / shortest).toFixed(1)} times`,
    )
    assert.ok(isLinear(), `${shape}: ${shortest} ms, and ${longest} ms for ${TIMES_LARGER} times as many bytes`)
  }
})
