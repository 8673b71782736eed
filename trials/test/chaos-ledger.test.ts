import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { listen } from '../../testkit/listeners.ts'
import { Random } from '../../testkit/random.ts'
import { HEALTHY } from '../chaos/habit.ts'
import { Ledger, type LedgerSite } from '../chaos/ledger.ts'

/** What the service does with a request, by its number. */
type Behaviour = (
  number: number,
  count: (isKeyForgotten?: boolean) => void,
  answer: (status: number) => void,
  response: ServerResponse,
) => void

const sites: LedgerSite[] = (['plain', 'keyed', 'twins'] as const).map((manner, index) => ({
  id: `site${index}`,
  client_id: 'client',
  ingest_key: `key${index}`,
  habit: HEALTHY[manner],
}))

/** A service that counts as the test says; keys count once, as they should. */
async function ledgerOn(t: TestContext, behave: Behaviour): Promise<Ledger> {
  const counts = new Map(sites.map(({ ingest_key }) => [ingest_key, 0]))
  const known = new Set<string>()
  let number = 0
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    const site = String(request.headers['x-service-key'])
    const key = request.headers['idempotency-key']
    const count = (isKeyForgotten = false) => {
      if (key !== undefined && known.has(String(key)) && !isKeyForgotten) return
      if (key !== undefined) known.add(String(key))
      counts.set(site, (counts.get(site) ?? 0) + 1)
    }
    behave(++number, count, (status) => response.writeHead(status).end('{}'), response)
  })
  const port = await listen(server)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return new Ledger({
    url: `http://127.0.0.1:${port}`,
    sites,
    name: 'test',
    look: async ({ ingest_key }) => {
      const events = counts.get(ingest_key) ?? 0
      return { events, executions: events, pairs: events }
    },
  })
}

async function roundOf(ledger: Ledger) {
  ledger.start(new Random(1))
  await ledger.untilAcknowledged(60)
  await ledger.stop()
  return ledger.close()
}

test('a service that counts what it acknowledges keeps the promise, round after round', async (t) => {
  const ledger = await ledgerOn(t, (_, count, answer) => {
    count()
    answer(200)
  })
  for (let round = 0; round < 2; round++) {
    const { acknowledged, failed, lost, twice, problems } = await roundOf(ledger)
    assert.ok(acknowledged >= 60)
    assert.deepEqual({ failed, lost, twice, problems }, { failed: 0, lost: 0, twice: 0, problems: [] })
  }
})

test('errors and lost answers are no breach, whether the service counted or not; what has a key is sent again', async (t) => {
  const ledger = await ledgerOn(t, (number, count, answer, response) => {
    if (number % 5 === 0) answer(500)
    else if (number % 7 === 0) {
      count()
      response.destroy()
    } else {
      count()
      answer(200)
    }
  })
  const { failed, lost, twice, problems } = await roundOf(ledger)
  assert.ok(failed > 0)
  assert.deepEqual({ lost, twice, problems }, { lost: 0, twice: 0, problems: [] })
})

test('a service that acknowledges one request without counting it has lost it', async (t) => {
  let hasForgotten = false
  const ledger = await ledgerOn(t, (number, count, answer, response) => {
    // One with a key may be sent again, and be counted then.
    const isPlain = response.req.headers['idempotency-key'] === undefined
    if (number < 20 || !isPlain || hasForgotten) count()
    else hasForgotten = true
    answer(200)
  })
  const { lost, twice, problems } = await roundOf(ledger)
  assert.deepEqual([hasForgotten, lost, twice, problems.length > 0], [true, 1, 0, true])
})

test('a service that counts one plain request twice is found out', async (t) => {
  let hasCountedTwice = false
  const ledger = await ledgerOn(t, (number, count, answer, response) => {
    const isPlain = response.req.headers['idempotency-key'] === undefined
    if (number > 10 && isPlain && !hasCountedTwice) {
      hasCountedTwice = true
      count()
    }
    count()
    answer(200)
  })
  const { lost, twice, problems } = await roundOf(ledger)
  assert.deepEqual([hasCountedTwice, lost, twice, problems.length > 0], [true, 0, 1, true])
})

test('a request that was refused for want of room must not be counted', async (t) => {
  const ledger = await ledgerOn(t, (number, count, answer, response) => {
    const isPlain = response.req.headers['idempotency-key'] === undefined
    count()
    answer(isPlain && number % 10 === 0 ? 503 : 200)
  })
  assert.ok((await roundOf(ledger)).twice > 0)
})

test('an answer that no fault explains is a problem', async (t) => {
  const ledger = await ledgerOn(t, (number, count, answer) => {
    if (number === 10) {
      answer(403)
      return
    }
    count()
    answer(200)
  })
  assert.match((await roundOf(ledger)).problems.join(), /answered 403/)
})

test('each key of twins is sent on two connections at once, and counts as one', async (t) => {
  const underWay = new Map<string, number>()
  let pairs = 0
  const ledger = await ledgerOn(t, (_, count, answer, response) => {
    const key = String(response.req.headers['idempotency-key'])
    const together = (underWay.get(key) ?? 0) + 1
    underWay.set(key, together)
    if (together === 2 && key !== 'undefined') pairs++
    setImmediate(() => {
      underWay.set(key, (underWay.get(key) ?? 0) - 1)
      count()
      answer(200)
    })
  })
  const { lost, twice, problems } = await roundOf(ledger)
  assert.ok(pairs > 0)
  assert.deepEqual({ lost, twice, problems }, { lost: 0, twice: 0, problems: [] })
})

test('a service that counts a key again when it is asked again is found out by repeats of what was acknowledged', async (t) => {
  let areKeysForgotten = false
  const ledger = await ledgerOn(t, (_, count, answer) => {
    count(areKeysForgotten)
    answer(200)
  })
  assert.equal((await roundOf(ledger)).twice, 0)
  areKeysForgotten = true
  const { repeated, twice } = await roundOf(ledger)
  assert.ok(repeated > 0 && twice > 0)
})
