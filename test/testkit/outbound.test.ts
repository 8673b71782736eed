import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutboundError, parseOutboundAllow } from '../../src/outbound/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { openOutboundWithoutThread } from '../../testkit/outbound.ts'
import { httpServer } from '../outbound/support.ts'

const OPTIONS = {
  allow: parseOutboundAllow('127.0.0.1'),
  userAgent: 'Tagwarden/test',
  clock: new TestClock(Date.now()),
}

test('without a thread what is under way when a service stops is interrupted as with one, and nothing is asked later', async (t) => {
  const isAsked = Promise.withResolvers<void>()
  const { port, connections } = await httpServer(t, () => isAsked.resolve())
  const outbound = openOutboundWithoutThread(OPTIONS)
  const asked = outbound.request(`http://127.0.0.1:${port}/`)
  await isAsked.promise
  await Promise.all([
    outbound.close(),
    assert.rejects(asked, (thrown) => thrown instanceof OutboundError && thrown.kind === 'interrupted'),
  ])
  await assert.rejects(outbound.request(`http://127.0.0.1:${port}/`), /the service stops/)
  assert.equal(connections(), 1)
})
