import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount, inTurn } from '../../testkit/length.ts'
import { Session } from '../../testkit/processes/session.ts'
import { soakChecks } from '../soak/outcome.ts'
import { soak } from '../soak/soak.ts'

/** What a run of seconds on a machine that does other things cannot tell. */
const NOT_IN_SECONDS = /memory|p99|without an answer/

test(
  'under load, with probes, alerts, messages and readers beside it, all is counted and nothing fails',
  inTurn(0, 3),
  async (t) => {
    const session = new Session()
    t.after(() => session.close())
    const result = await soak(session, {
      seconds: amount(8, 120),
      sampleSeconds: 2,
      perSecond: 150,
      sites: 50,
      loadedSites: 20,
      connections: 64,
      probeSeconds: 2,
      brokenSeconds: 4,
      cycleSeconds: 8,
      reportsPerSecond: 4,
      progress: (text) => t.diagnostic(text),
    })
    const missed = soakChecks(result).filter(({ what, reached }) => !reached && !NOT_IN_SECONDS.test(what))
    assert.deepEqual(missed, [])
    assert.ok(result.counted.accepted > 0)
  },
)
