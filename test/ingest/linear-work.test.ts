import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeBody } from '../../src/ingest/judge.ts'
import { SampleRecorder } from '../../src/ingest/samples.ts'
import { condense, spill } from '../../src/journal/heavy-sites.ts'
import {
  addLog,
  appendDelta,
  appendPayload,
  Delta,
  encodeEntry,
  type Log,
  type Payload,
} from '../../src/journal/index.ts'
import { NameBooks } from '../../src/journal/names.ts'
import { FoldRows } from '../../src/journal/rows.ts'
import type { Store } from '../../src/store/index.ts'
import { upsertColumns } from '../../src/store/postgres/values.ts'
import { openEmptyStore, sqlite } from '../../testkit/engines.ts'
import { growthOf, inWords, isLinear, PARTS } from '../../testkit/growth.ts'
import { HOSTILE_SHAPES } from '../../testkit/hostile-bodies.ts'
import { amount, isInTurn } from '../../testkit/length.ts'

const NOW = Date.parse('2026-11-20T23:59:30.000Z')
/** All parts together are as long as one body may be; at every change a quarter of that, which what is quadratic fails as surely. */
const PART_BYTES = amount(4_096, 16_384)

let lastSite = 0

/** All that is done with these requests, from their text to the rows of the fold, on either engine. */
async function work(store: Store, bodies: readonly string[]): Promise<void> {
  // One of its own: what a site has sent before changes what is done with the next.
  const siteNo = ++lastSite
  const recorder = new SampleRecorder(store)
  const log: Log = []
  for (const body of bodies) {
    const payload = payloadOf(body)
    if (payload === undefined) continue
    appendPayload(log, siteNo, payload, NOW)
    encodeEntry(siteNo, payload, NOW)
    recorder.accepted(siteNo, payload, body.length, NOW)
  }
  await recorder.flush()
  // The commit adds a group up before it writes it.
  const group: Log = []
  appendDelta(group, sumOf(log))
  const delta = sumOf(JSON.parse(JSON.stringify(group)) as Log)
  await fold(store, delta)
  await foldMuch(store, delta)
}

/** What the endpoint makes of a body. */
function payloadOf(body: string): Payload | undefined {
  const judged = judgeBody(body)
  return judged.ok && judged.payload !== null ? judged.payload : undefined
}

function sumOf(log: Log): Delta {
  const delta = new Delta()
  addLog(delta, log)
  return delta
}

/** A fold of sites that are written as they are. */
async function fold(store: Store, delta: Delta): Promise<void> {
  const books = await booksFor(store, delta)
  const rows = new FoldRows()
  for (const [siteNo, site] of delta.sites) await rows.addSite(siteNo, 'client', site, books)
  makeColumns(rows)
}

/** A fold of sites that are too much for it: what the caps leave of them, and the pieces they are spilled in. */
async function foldMuch(store: Store, delta: Delta): Promise<void> {
  const books = await booksFor(store, delta)
  const rows = new FoldRows()
  for (const [siteNo, site] of delta.sites) {
    await rows.addSite(siteNo, 'client', await condense(siteNo, site, books, rows), books)
    await spill(store, { nodeId: 'node', lastSeq: 1, writtenAt: NOW, siteNo, site })
  }
  makeColumns(rows)
}

async function booksFor(store: Store, delta: Delta): Promise<NameBooks> {
  const books = new NameBooks(store)
  await books.load(delta, delta.sites.keys())
  return books
}

/** Which PostgreSQL is given; SQLite gets the rows as they are. */
function makeColumns(rows: FoldRows): void {
  for (const operation of rows.operations()) {
    if (operation.kind === 'upsert') upsertColumns(operation.spec, operation.values)
  }
}

test('whatever requests hold, the work they make grows with their bytes and no faster', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  for (const [n, [shape, bodiesOf]] of Object.entries(HOSTILE_SHAPES).entries()) {
    if (!isInTurn(n, 3)) continue
    // Keys that the JavaScript engine has read before cost it half, so that no part may hold those of another.
    const parts = Array.from({ length: PARTS }, (_, index) => bodiesOf(PART_BYTES, NOW - index * PART_BYTES))
    const whole = bodiesOf(PART_BYTES * PARTS, NOW)
    const growth = await growthOf(
      (index) => work(store, parts[index] ?? []),
      () => work(store, whole),
    )
    t.diagnostic(`${shape}: ${inWords(growth)}`)
    assert.ok(isLinear(growth), `${shape}: ${inWords(growth)}`)
  }
})

const SIZE = 10_000
/** A fraction of a millisecond. */
const STEPS = 50_000
const CLASSES: readonly [title: string, steps: (size: number) => number, isLinear: boolean][] = [
  ['as its size does is taken for linear', (size) => size, true],
  [
    'as its size and the logarithm of that do, as in sorting, is taken for linear',
    (size) => size * Math.log2(size),
    true,
  ],
  ['as the power of 1.5 of its size does is not', (size) => size ** 1.5, false],
]
for (const [title, steps, expected] of CLASSES) {
  test(`work that grows ${title}`, async (t) => {
    const growth = await growthOf(
      () => spin(STEPS),
      () => spin((STEPS * steps(SIZE * PARTS)) / steps(SIZE)),
    )
    t.diagnostic(inWords(growth))
    assert.equal(isLinear(growth), expected, inWords(growth))
  })
}

let sum = 0

function spin(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) sum = (sum * 31 + step) | 0
  return Promise.resolve()
}
