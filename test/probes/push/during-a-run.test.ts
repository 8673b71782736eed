import assert from 'node:assert/strict'
import { SECOND } from '../../../src/lib/index.ts'
import { newClock } from '../../../testkit/clock.ts'
import { testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { OK, openNode, probeRow, runDue, typeOf } from '../support.ts'

testOnEveryEngine('a run that is asked for while one is under way follows it', async (store, t) => {
  const clock = newClock()
  const site = await insertSite(store)
  const { id } = await insertProbe(store, site.id, { interval_seconds: 3_600 })
  let runs = 0
  const type = typeOf(async () => {
    runs++
    // A call came after this run had looked.
    if (runs === 1) {
      const asked = { next_run_at: clock.now() }
      await store.write
        .updateTable('probes')
        .set(asked)
        .where('id', '=', id)
        .where('next_run_at', '>', asked.next_run_at)
        .execute()
    }
    return OK
  })
  const node = await openNode(t, store, clock, [type])
  await runDue(node)
  assert.equal((await probeRow(store, id)).next_run_at, clock.now())
  clock.advance(SECOND)
  await runDue(node)
  assert.equal(runs, 2)
  assert.ok((await probeRow(store, id)).next_run_at > clock.now() + SECOND)
})
