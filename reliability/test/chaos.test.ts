import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Closers } from '../../src/lib/index.ts'
import { sharedDatabaseServer } from '../chaos/database-server.ts'
import { FAULTS } from '../chaos/faults/index.ts'
import { playFault } from '../chaos/rounds.ts'

/** The short form of `npm run chaos`: a round of some faults on both engines. */
const ROUNDS: Readonly<Record<string, number>> = {
  'hostile-kill': 1,
  'torn-write': 1,
  'full-disk': 1,
  'failing-fsync': 1,
  clock: 2,
  'pg-restart': 1,
  'pg-cut': 1,
  'pg-unknown': 1,
}
const SEED = 7

const closers = new Closers()
after(() => closers.closeAll())
const folder = mkdtempSync(join(tmpdir(), 'tagwarden-chaos-'))
closers.add(() => rmSync(folder, { recursive: true, force: true }))
const postgres = sharedDatabaseServer(closers)

for (const fault of FAULTS) {
  const rounds = ROUNDS[fault.name]
  if (rounds === undefined) continue
  const missing = fault.missing?.()
  test(`acknowledged is counted exactly once (${fault.engine}): ${fault.description}`, {
    skip: missing ?? false,
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
