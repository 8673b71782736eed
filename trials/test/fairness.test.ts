import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount } from '../../testkit/length.ts'
import { Session } from '../../testkit/processes/session.ts'
import { fairness } from '../fairness/fairness.ts'
import { hostileKinds, UNREAD_REPORTS } from '../fairness/kinds.ts'
import { fairnessChecks } from '../fairness/outcome.ts'

/** Those that once stopped a node, or killed it. `npm run fairness` has all. */
const KINDS = [
  ...hostileKinds
    .map(({ name }) => name)
    .filter((name) => /container and 500|ids under one|finished together/.test(name)),
  UNREAD_REPORTS,
]

/** What a short run on a machine that does other things cannot tell. */
const NOT_IN_SECONDS = /p99|visible|not answered 200/

test('a sender with a valid key neither stops the service nor loses the events of others', async (t) => {
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
