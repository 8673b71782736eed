import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import { OutboundError } from '../../src/outbound/index.ts'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import { OwnConnection, type Way, wayAfter } from '../../src/probes/own-connection.ts'
import { newClock } from '../../testkit/clock.ts'
import { deadAddress, startAnswering } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'
import { testOutbound } from '../outbound/support.ts'

const BLIND: Way = { state: 'blind' }
const OPEN: Way = { state: 'open' }
const AWAY: Way = { state: 'away', since: 100 }

const WAYS: readonly [title: string, way: Way, look: Parameters<typeof wayAfter>[1], reachedAt: number, after: Way][] =
  [
    ['the first answer shows that they can be relied on', BLIND, 'answered', 0, OPEN],
    ['what never answered proves nothing', BLIND, 'failed', 0, BLIND],
    ['what answered and does not any more: it is us', OPEN, 'failed', 0, { state: 'away', since: 200 }],
    ['it lasts', AWAY, 'failed', 0, AWAY],
    ['a run from before it proves nothing', AWAY, 'failed', 100, AWAY],
    ['a target that answers while they do not: they are blocked', AWAY, 'failed', 101, BLIND],
    ['it is back', AWAY, 'answered', 0, OPEN],
    ['what says nothing changes nothing', OPEN, 'unclear', 0, OPEN],
    ['nor while it is away', AWAY, 'unclear', 300, AWAY],
  ]
for (const [title, way, look, reachedAt, after] of WAYS) {
  test(title, () => assert.deepEqual(wayAfter(way, look, 200, reachedAt), after))
}

const DOWN: ProbeOutcome = { status: 'critical', message: 'shop.example does not answer', details: {} }
const FINE: ProbeOutcome = { status: 'ok', message: 'fine', details: {} }

type Answer = 'fine' | 'broken' | 'portal' | 'silent'

/** A reference that answers as the test says, and how often it was asked. */
async function reference(t: TestContext, first: Answer = 'fine') {
  const now = { answer: first, asked: 0 }
  const url = await startAnswering(t, (_request, response) => {
    now.asked++
    if (now.answer === 'silent') return
    const status = { fine: 204, broken: 500, portal: 302 }[now.answer]
    response.writeHead(status, now.answer === 'portal' ? { location: 'http://login.example/' } : {}).end()
  })
  return Object.assign(now, { url: `${url}/` })
}

function connectionTo(references: readonly string[], allow = '127.0.0.1') {
  const clock = newClock()
  const errors: string[] = []
  const onError = (error: Error) => errors.push(error.message)
  const connection = new OwnConnection({ references, outbound: testOutbound(allow), clock, onError, answerMs: 200 })
  const judge = (outcome: ProbeOutcome, isUnanswered = outcome === DOWN) =>
    connection.judge(outcome, { beganAt: clock.now(), isUnanswered })
  return {
    clock,
    errors,
    connection,
    judge,
    /** A probe finds its target well, and the references are asked beside it and answer. */
    warm: async (asked: { asked: number }) => {
      await judge(FINE)
      await until('they are asked', () => asked.asked > 0 || undefined)
      clock.advance(MINUTE)
    },
    /** What a run comes to that gets no answer, once it is known whose fault that is. */
    judgedOurs: () =>
      until('the connection is doubted', async () => {
        clock.advance(MINUTE)
        const outcome = await judge(DOWN)
        return outcome.isOurs === true ? outcome : undefined
      }),
  }
}

test('a target that is away while a reference answers is away', async (t) => {
  const one = await reference(t)
  const { judge, warm, connection } = connectionTo([one.url, await deadAddress()])
  await warm(one)
  assert.equal(await judge(DOWN), DOWN)
  assert.equal(connection.doubt, null)
})

test('a target that is away while all references are is not judged, and the doubt names them', async (t) => {
  const [one, other] = [await reference(t), await reference(t)]
  const { judge, judgedOurs, warm, connection, clock } = connectionTo([one.url, other.url])
  await warm(one)
  one.answer = 'silent'
  other.answer = 'portal'
  const outcome = await judgedOurs()
  assert.deepEqual(
    [outcome.status, outcome.isOurs, outcome.details.reason, outcome.details.found],
    ['error', true, 'own_connection', 'shop.example does not answer'],
  )
  assert.match(outcome.message, /^Not judged: This node has no connection to the internet: 127\.0\.0\.1:\d+ and /)
  clock.advance(10 * SECOND)
  await connection.loop.tick()
  assert.ok(connection.doubt !== null)
  other.answer = 'fine'
  await connection.loop.tick()
  assert.equal(connection.doubt, null)
  clock.advance(10 * SECOND)
  assert.equal(await judge(DOWN), DOWN)
})

test('a reference that answers wrongly is there all the same', async (t) => {
  const one = await reference(t)
  const { judge, warm } = connectionTo([one.url])
  await warm(one)
  one.answer = 'broken'
  assert.equal(await judge(DOWN), DOWN)
})

test('references that never answered keep no alert back', async () => {
  const { judge, connection, clock } = connectionTo([await deadAddress(), await deadAddress()])
  for (let run = 0; run < 3; run++) {
    assert.equal(await judge(DOWN), DOWN)
    clock.advance(MINUTE)
  }
  assert.equal(connection.doubt, null)
})

test('references that a firewall blocks from now on keep alerts back until the next target answers', async (t) => {
  const one = await reference(t)
  const { judge, judgedOurs, warm, connection, clock } = connectionTo([one.url])
  await warm(one)
  one.answer = 'silent'
  await judgedOurs()
  clock.advance(MINUTE)
  await judge(FINE)
  await connection.loop.tick()
  assert.equal(connection.doubt, null)
  clock.advance(MINUTE)
  assert.equal(await judge(DOWN), DOWN)
})

test('references that may not be asked say nothing', async (t) => {
  const one = await reference(t)
  const { judge, connection, clock } = connectionTo([one.url], 'elsewhere.example')
  await judge(FINE)
  clock.advance(MINUTE)
  assert.equal(await judge(DOWN), DOWN)
  assert.deepEqual([one.asked, connection.doubt], [0, null])
})

test('probes that fail in one moment share one question', async (t) => {
  const one = await reference(t)
  const { judge, judgedOurs, warm, clock } = connectionTo([one.url])
  await warm(one)
  one.answer = 'silent'
  await judgedOurs()
  clock.advance(MINUTE)
  const before = one.asked
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => judge(DOWN)))
  assert.ok(outcomes.every(({ isOurs }) => isOurs === true))
  assert.equal(one.asked, before + 1)
})

test('a check that could not be made does not show that the network works', async (t) => {
  const one = await reference(t)
  const { judge, judgedOurs, warm, connection, clock } = connectionTo([one.url])
  await warm(one)
  one.answer = 'silent'
  await judgedOurs()
  clock.advance(MINUTE)
  await judge({ status: 'error', message: 'no credentials', details: {} }, false)
  await connection.loop.tick()
  assert.ok(connection.doubt !== null)
})

test('without references no one is asked, and every outcome stays', async () => {
  const asked: string[] = []
  const outbound = {
    request: (url: string) => {
      asked.push(url)
      return Promise.reject(new OutboundError('dns', 'nothing'))
    },
    fetchBytes: () => Promise.reject(new Error('not asked')),
    resolve: () => Promise.reject(new Error('not asked')),
  }
  const connection = new OwnConnection({ references: [], outbound, clock: newClock(), onError: () => undefined })
  const run = { beganAt: 0, isUnanswered: true }
  assert.equal(await connection.judge(DOWN, run), DOWN)
  assert.equal(await connection.judge(FINE, { ...run, isUnanswered: false }), FINE)
  assert.deepEqual(asked, [])
})
