import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount, inTurn } from '../../testkit/length.ts'
import { Session } from '../../testkit/processes/session.ts'
import { fairness } from '../fairness/fairness.ts'
import { healthyFigures } from '../fairness/healthy.ts'
import { hostileKinds, UNREAD_REPORTS } from '../fairness/kinds.ts'
import { fairnessChecks } from '../fairness/outcome.ts'
import type { LoadFigures } from '../soak/load/figures.ts'

/** Those that once stopped a node, or killed it. `npm run fairness` has all. */
const KINDS = [
  ...hostileKinds
    .map(({ name }) => name)
    .filter((name) => /container and 500|ids under one|finished together/.test(name)),
  UNREAD_REPORTS,
]

/** What a short run on a machine that does other things cannot tell. */
const NOT_IN_SECONDS = /p99|visible|not answered 200/

test('a sender with a valid key neither stops the service nor loses the events of others', inTurn(1, 3), async (t) => {
  const session = new Session()
  t.after(() => session.close())
  const result = await fairness(session, {
    engine: 'sqlite',
    seconds: amount(1, 8),
    kinds: KINDS,
    progress: (text) => t.diagnostic(text),
  })
  const missed = fairnessChecks(result).filter(({ what, reached }) => !reached && !NOT_IN_SECONDS.test(what))
  assert.deepEqual(missed, [])
  assert.equal(KINDS.length, 4)
  assert.equal(result.rows.length, KINDS.length + ['alone before', 'alone after'].length)
  for (const { name, hostile } of result.rows) {
    if (hostile !== null) assert.ok(hostile.sent > 0, name)
  }
})

test('a pause in one part of the time is not taken for the sender, what is in most of them is', () => {
  const part = (p99Ms: number, statuses: Record<string, number> = { 200: 10 }): LoadFigures => {
    const times = { count: 10, p50Ms: 5, p99Ms, maxMs: 2 * p99Ms }
    const counts = { seconds: 1, due: 10, sent: 10, givenUp: 0, unanswered: 0, notConnected: 0, generatorLoad: 0.1 }
    return { ...counts, statuses, accepted: times, acceptedFromDue: times, refused: times }
  }
  assert.deepEqual(healthyFigures([part(20), part(21), part(300), part(22), part(19)]), {
    p50Ms: 5,
    p99Ms: 21,
    maxMs: 600,
    statuses: { 200: 50 },
    notAccepted: 0,
  })
  const hurt = healthyFigures([part(20), part(90), part(90, { 200: 8, 503: 2 }), part(90), part(21)])
  assert.equal(hurt.p99Ms, 90)
  assert.equal(hurt.notAccepted, 2)
})
