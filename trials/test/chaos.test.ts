import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Closers } from '../../src/lib/index.ts'
import { amount, inTurn } from '../../testkit/length.ts'
import { sharedDatabaseServer } from '../chaos/database-server.ts'
import { FAULTS } from '../chaos/faults/index.ts'
import { playFault } from '../chaos/rounds.ts'

/** The short form of `npm run chaos`: a round of a fault that breaks most, which take turns; at night some rounds of each. */
const ROUNDS: Readonly<Record<string, number>> = {
  'hostile-kill': amount(1, 3),
  'busy-kill': amount(0, 3),
  'torn-write': amount(1, 5),
  'full-disk': amount(0, 4),
  'failing-fsync': amount(0, 4),
  clock: amount(1, 5),
  'pg-busy-kill': amount(0, 2),
  'pg-restart': amount(0, 4),
  'pg-cut': amount(1, 4),
  'pg-unknown': amount(0, 4),
}
/** Where they take turns, in three runs: the heavy ones each in its own. */
const TURNS: Readonly<Record<string, number>> = { 'hostile-kill': 0, 'torn-write': 1, clock: 2, 'pg-cut': 2 }
const SEED = 7

const closers = new Closers()
after(() => closers.closeAll())
const folder = mkdtempSync(join(tmpdir(), 'tagwarden-chaos-'))
closers.add(() => rmSync(folder, { recursive: true, force: true }))
const postgres = sharedDatabaseServer(closers)

for (const fault of FAULTS) {
  const rounds = ROUNDS[fault.name]
  if (rounds === undefined || rounds === 0) continue
  const missing = fault.missing?.()
  test(`acknowledged is counted exactly once (${fault.engine}): ${fault.description}`, {
    skip: missing ?? inTurn(TURNS[fault.name] ?? 0, 3).skip,
  }, async (t) => {
    const outcome = await playFault(fault, {
      seed: SEED,
      first: 1,
      rounds,
      newFolder: () => mkdtempSync(join(folder, 'place-')),
      postgres,
      closers,
      say: (line) => t.diagnostic(line),
    })
    assert.deepEqual(outcome.failures, [])
    assert.equal(outcome.rounds.length, rounds)
    for (const { acknowledged, repeated } of outcome.rounds) assert.ok(acknowledged > 0 && repeated > 0)
  })
}
