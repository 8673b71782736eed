import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount, inTurn } from '../../testkit/length.ts'
import { Session } from '../../testkit/processes/session.ts'
import { hostileKinds } from '../fairness/kinds.ts'
import { runPart } from '../fuzz/part.ts'

const REQUESTS = { open: amount(4_000, 40_000), keys: amount(3_000, 30_000) }

for (const [n, name] of (['open', 'keys'] as const).entries()) {
  test(`no hostile request makes the service fail, lose a count or keep content (${name})`, inTurn(n, 2), async (t) => {
    const session = new Session()
    t.after(() => session.close())
    const { failures, healthy, counted, accepted } = await session.step(() =>
      runPart(session, name, REQUESTS[name], 20_261_122, () => undefined),
    )
    assert.equal(failures.count, 0, failures.text())
    assert.ok(healthy > 0 && counted > 0, 'nothing was accepted, so nothing was tried')
    for (const { name: kind } of hostileKinds) {
      if (/1 MB/.test(kind)) continue // Two in a hundred of these: a short run may have none.
      assert.ok((accepted.get(kind) ?? 0) > 0, `${kind}: none was taken`)
    }
  })
}
