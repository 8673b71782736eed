import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JudgedLarge } from '../../src/ingest/body-tasks.ts'
import { knownFieldsOf } from '../../src/ingest/check.ts'
import { judgeBody } from '../../src/ingest/judge.ts'
import { LargeBodies } from '../../src/ingest/large-bodies.ts'
import { addLog, Delta, encodeEntry, eventsIn, type Log } from '../../src/journal/index.ts'
import { SECOND } from '../../src/lib/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { listen, NOW } from './endpoint-support.ts'

const SITE = 7

/** A reader of large bodies, and what it reported. */
function reader(t: TestContext, settings: ConstructorParameters<typeof LargeBodies>[1] = {}) {
  const errors: string[] = []
  const bodies = new LargeBodies((error, what) => errors.push(`${what}: ${error.message}`), settings)
  t.after(() => bodies.close())
  const judge = (text: string, clientId = 'client') =>
    new Promise<JudgedLarge | null>((resolve) => {
      bodies.judge(clientId, {
        siteNo: SITE,
        size: text.length,
        take: () => new Uint8Array(Buffer.from(text)),
        now: () => NOW,
        settle: resolve,
      })
    })
  return { bodies, judge, errors }
}

const tags = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}`, name: `Täg ${index}`, status: 'success' as const }))

const counts = (names: number) => Object.fromEntries(Array.from({ length: names }, (_, index) => [`event ${index}`, 1]))

/** Each is sent as it is, and with so much behind it that it is large. */
const BODIES: Readonly<Record<string, string>> = {
  'an event': JSON.stringify(event(NOW, { tags: tags(3) })),
  'an event of 500 tags': JSON.stringify(event(NOW, { tags: tags(500) })),
  'an event with a byte order mark': `\ufeff${JSON.stringify(event(NOW))}`,
  'an event with unknown fields': JSON.stringify({ ...event(NOW), secret: 'x', tags: [{ ...tags(1)[0], more: {} }] }),
  'an event whose clock is wrong': JSON.stringify(event(NOW - 3 * 86_400_000)),
  'a batch': JSON.stringify(batch(NOW, { total_events: 400, event_counts: counts(400) })),
  'a batch with the names that every object has': `{"container_id":"GTM-A","batch":true,"window_start_ms":1,"window_end_ms":${NOW},"total_events":2,"event_counts":{"__proto__":1,"constructor":1}}`,
  'a batch of more parts than it has': JSON.stringify(batch(NOW, { total_events: 1, event_counts: counts(2) })),
  'a batch of too many names': JSON.stringify(batch(NOW, { total_events: 2_000, event_counts: counts(1_001) })),
  'a missing field': JSON.stringify({ ...event(NOW), event_name: undefined }),
  'a wrong type deep inside': JSON.stringify({ ...event(NOW), tags: [{ id: '1', status: 'gone' }] }),
  'no JSON': '{"container_id":',
  'no object': '[1]',
  nothing: '',
  'too deep': `{"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
  'too many objects': `{"x":[${'{},'.repeat(20_000)}{}]}`,
}

test('a large body is judged by the thread as a small one is by the main thread', async (t) => {
  const { judge, errors } = reader(t)
  for (const [what, text] of Object.entries(BODIES)) {
    const here = judgeBody(text.replace('\ufeff', ''))
    const there = await judge(text)
    if (!here.ok) {
      assert.deepEqual(there, here, what)
      continue
    }
    const { payload, canaries } = here
    assert.ok(payload !== null, what)
    const counted = {
      events: eventsIn(payload),
      entry: encodeEntry(SITE, payload, NOW),
      sample: JSON.stringify(knownFieldsOf(payload)),
    }
    assert.deepEqual(there, { ok: true, counted, canaries }, what)
  }
  assert.deepEqual(errors, [])
})

test('a payload that is too large for a sample is counted and not handed back', async (t) => {
  const judged = await reader(t).judge(`${JSON.stringify(event(NOW))}${' '.repeat(70_000)}`)
  assert.ok(judged?.ok === true && judged.counted !== null)
  const { sample, entry } = judged.counted
  assert.equal(sample, null)
  assert.equal(entry.items, (JSON.parse(`[${entry.json}]`) as Log).length)
})

/** What the journal holds of a site: requests, and events by name. */
async function counted(store: Store, { site_no }: SiteRow) {
  const delta = new Delta()
  const rows = await store.read.selectFrom('journal').select('payload').execute()
  for (const { payload } of rows) addLog(delta, JSON.parse(payload) as Log)
  const site = delta.sites.get(site_no)
  const used = [...(site?.usage.values() ?? [])]
  const names = site?.cells.flatMap(({ events }) =>
    Array.from(events, ([name, { counts, tags: of }]) => [name, counts, of]),
  )
  return { used, names }
}

testOnEveryEngine(
  'whatever a body is answered, it is answered and counted alike when it is large',
  async (store, t) => {
    const { send, samples } = await listen(t, store)
    // Blanks count as much as anything else: so the same body is a small one and a large one.
    for (const [what, text] of Object.entries(BODIES)) {
      const [small, large] = [await insertSite(store), await insertSite(store)]
      const statuses = [await send(small, text), await send(large, `${text}${' '.repeat(17_000)}`)]
      assert.equal(statuses[0], statuses[1], what)
      assert.deepEqual(await counted(store, large), await counted(store, small), what)
      await samples.flush()
      const kept = async ({ site_no }: SiteRow) => [
        await store.read.selectFrom('rejections').select(['reason', 'path']).where('site_no', '=', site_no).execute(),
        await store.read.selectFrom('recent_payloads').select('payload').where('site_no', '=', site_no).execute(),
      ]
      assert.deepEqual(await kept(large), await kept(small), what)
    }
  },
)

const dying = new URL('./dying-tasks.ts', import.meta.url)

test('a body of which the thread dies is given up and reported, and the next thread reads those that wait', async (t) => {
  const { judge, errors } = reader(t, { module: dying })
  const read = { ok: false, path: 'read' }
  assert.deepEqual(await Promise.all([judge('a'), judge('deadly'), judge('b')]), [read, null, read])
  assert.deepEqual(errors, ['a large body: the thread ended'])
})

testLogic('a sender whose body could not be read is asked to come again, and nothing is counted', async (store, t) => {
  const site = await insertSite(store)
  const errors: string[] = []
  const largeBodies = new LargeBodies((error) => errors.push(error.message), { module: dying })
  const { send, samples, endpoint } = await listen(t, store, { largeBodies })
  assert.equal(await send(site, `deadly${' '.repeat(17_000)}`), 503)
  await samples.flush()
  const refused = await store.read.selectFrom('rejections').select(['reason', 'path']).execute()
  assert.deepEqual(refused, [{ reason: 'unavailable', path: 'large bodies' }])
  assert.equal(endpoint.bytesUnderWay, 0)
  assert.equal(errors.length, 1)
})

test('one client with many large bodies keeps another waiting for one of them', async (t) => {
  const { judge } = reader(t)
  const order: string[] = []
  const send = async (clientId: string) => {
    await judge('{}', clientId)
    order.push(clientId)
  }
  await Promise.all([send('many'), send('many'), send('many'), send('many'), send('one')])
  assert.deepEqual(order.indexOf('one') <= 2, true, order.join())
})

test('a client whose large bodies are beyond its pace waits while others are served, and then has its turn', async (t) => {
  const clock = newClock()
  const { judge } = reader(t, { pace: { atOnce: 1, aSecond: 2 }, clock })
  const order: string[] = []
  const send = async (name: string, clientId: string) => {
    await judge('{}', clientId)
    order.push(name)
  }
  // Two bytes each: the second has to wait for more than half a second.
  const many = [1, 2].map((number) => send(`many ${number}`, 'many'))
  await send('one', 'one')
  await send('two', 'two')
  assert.deepEqual(order, ['many 1', 'one', 'two'])
  clock.advance(SECOND)
  await Promise.all(many)
})

test('what waits for its pace when the service stops is given up at once', async (t) => {
  const { bodies, judge } = reader(t, { pace: { atOnce: 1, aSecond: 0.001 } })
  const first = judge('{}')
  const second = judge('{}')
  await first
  await bodies.close()
  assert.equal(await second, null)
})

test('a body whose sender has gone when its turn comes is not read', async (t) => {
  const { bodies, judge, errors } = reader(t)
  bodies.judge('client', { siteNo: SITE, size: 2, take: () => null, now: () => NOW, settle: assert.fail })
  assert.equal((await judge('{}'))?.ok, false)
  assert.deepEqual(errors, [])
})

test('when the service stops, bodies that wait are given up without a word in the log', async (t) => {
  const { bodies, judge, errors } = reader(t)
  const waiting = [judge('{}'), judge('{}')]
  await bodies.close()
  assert.deepEqual(await Promise.all(waiting), [null, null])
  assert.deepEqual(await judge('{}'), null)
  assert.deepEqual(errors, [])
})
