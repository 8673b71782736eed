import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { laneOf, startOfLane } from '../../src/journal/lanes.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import { OutboundError } from '../../src/outbound/index.ts'
import type { ProbeOutcome, ProbeType } from '../../src/probes/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { OK, openNode, probeRow, resultsOf, runDue, typeOf } from './support.ts'

const CRITICAL: ProbeOutcome = { status: 'critical', message: 'down', details: {} }

testOnEveryEngine('a run that throws, at once or later, is an error with the reason', async (store, t) => {
  const site = await insertSite(store)
  const now = await insertProbe(store, site.id, { probe_type: 'now' })
  const later = await insertProbe(store, site.id, { probe_type: 'later' })
  const types = [
    typeOf(
      () => {
        throw new TypeError('no such thing')
      },
      { name: 'now' },
    ),
    typeOf(() => Promise.reject(new Error('later')), { name: 'later' }),
  ]
  const node = await openNode(t, store, newClock(), types)
  await runDue(node)
  const [first] = await resultsOf(store, now.id)
  assert.deepEqual(
    [first?.status, first?.message, first?.details, first?.attempts],
    ['error', 'The check failed: no such thing', '{"reason":"exception","name":"TypeError"}', 1],
  )
  assert.deepEqual(
    (await resultsOf(store, later.id)).map(({ status, message }) => [status, message]),
    [['error', 'The check failed: later']],
  )
  assert.deepEqual(node.errors, [])
})

testLogic('a run that hangs or gives up when its time is over is an error, and is not retried', async (store, t) => {
  const site = await insertSite(store)
  const of = (probe_type: string) => insertProbe(store, site.id, { probe_type, timeout_ms: 100 })
  const probes = [await of('hangs'), await of('gives up')]
  const runs: Record<string, number> = {}
  const silent = (name: string, ending: (signal: AbortSignal, reject: (reason: unknown) => void) => void) =>
    typeOf(
      ({ signal }) => {
        runs[name] = (runs[name] ?? 0) + 1
        return new Promise<never>((_, reject) => ending(signal, reject))
      },
      { name },
    )
  const types = [
    silent('hangs', () => undefined),
    silent('gives up', (signal, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ]
  await runDue(await openNode(t, store, newClock(), types))
  const results = (await Promise.all(probes.map(({ id }) => resultsOf(store, id)))).flat()
  const outOfTime = ['error', 'The check did not finish within 100 ms', '{"reason":"timeout","timeout_ms":100}', 1]
  assert.deepEqual(
    results.map(({ status, message, details, attempts }) => [status, message, details, attempts]),
    [outOfTime, outOfTime],
  )
  assert.deepEqual(runs, { hangs: 1, 'gives up': 1 })
})

testLogic('a run that this process itself held up until its time was over is made once more', async (store, t) => {
  const site = await insertSite(store)
  const of = (probe_type: string) => insertProbe(store, site.id, { probe_type, timeout_ms: 100 })
  const probes = [await of('asked'), await of('still silent'), await of('counted')]
  const clock = newClock()
  const runs: Record<string, number> = {}
  const heldUpOnce =
    (name: string, second: Promise<ProbeOutcome>): ProbeType['run'] =>
    () => {
      runs[name] = (runs[name] ?? 0) + 1
      if (runs[name] > 1) return second
      // As if nothing had been done for ten seconds: the timer of 100 ms fires, and the answer that came after 50 is still unread.
      clock.advance(10 * SECOND)
      return new Promise<never>(() => undefined)
    }
  const silent = Promise.resolve<ProbeOutcome>({ ...CRITICAL, isNetworkFailure: true })
  const types = [
    typeOf(heldUpOnce('asked', Promise.resolve(OK)), { name: 'asked' }),
    typeOf(heldUpOnce('still silent', silent), { name: 'still silent' }),
    // Reading counts may be what held it up.
    typeOf(heldUpOnce('counted', Promise.resolve(OK)), { name: 'counted', kind: 'data' }),
  ]
  await runDue(await openNode(t, store, clock, types))
  const results = (await Promise.all(probes.map(({ id }) => resultsOf(store, id)))).flat()
  assert.deepEqual(
    results.map(({ status, attempts }) => `${status} ${attempts}`),
    ['ok 2', 'critical 2', 'error 1'],
  )
})

testLogic('a run whose time is over may still judge its target', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { timeout_ms: 100 })
  const type = typeOf(
    ({ signal, timeoutMs }) =>
      new Promise((resolve) => {
        const outcome: ProbeOutcome = { status: 'critical', message: `silent for ${timeoutMs} ms`, details: {} }
        signal.addEventListener('abort', () => resolve({ ...outcome, isNetworkFailure: true }))
      }),
  )
  await runDue(await openNode(t, store, newClock(), [type]))
  const [result] = await resultsOf(store, probe.id)
  assert.deepEqual([result?.status, result?.message, result?.attempts], ['critical', 'silent for 100 ms', 1])
})

testOnEveryEngine('what fails on the network is tried once more, and the second outcome counts', async (store, t) => {
  const site = await insertSite(store)
  const outcomes: Record<string, (() => ProbeOutcome)[]> = {
    recovers: [() => ({ ...CRITICAL, isNetworkFailure: true }), () => OK],
    stays: [() => ({ ...CRITICAL, isNetworkFailure: true }), () => ({ ...CRITICAL, message: 'still down' })],
    judged: [() => CRITICAL, () => OK],
    thrown: [
      () => {
        throw new OutboundError('reset', 'the other end closed the connection')
      },
      () => OK,
    ],
    forbidden: [
      () => {
        throw new OutboundError('forbidden_address', 'not there')
      },
      () => OK,
    ],
  }
  const types = Object.entries(outcomes).map(([name, list]) =>
    typeOf(async () => list.shift()?.() ?? CRITICAL, { name }),
  )
  const node = await openNode(t, store, newClock(), types)
  const found: Record<string, unknown> = {}
  for (const name of Object.keys(outcomes)) {
    const probe = await insertProbe(store, site.id, { probe_type: name })
    await runDue(node)
    const [result] = await resultsOf(store, probe.id)
    found[name] = [result?.status, result?.attempts]
  }
  assert.deepEqual(found, {
    recovers: ['ok', 2],
    stays: ['critical', 2],
    judged: ['critical', 1],
    thrown: ['ok', 2],
    forbidden: ['error', 1],
  })
})

testOnEveryEngine(
  'what a type needs and no longer finds is an error that names it, and it is not run',
  async (store, t) => {
    const site = await insertSite(store)
    const probe = await insertProbe(store, site.id, { probe_type: 'needy' })
    const bad = await insertProbe(store, site.id, { probe_type: 'strict', config: '{"least":"many"}' })
    let runs = 0
    const run = async () => {
      runs++
      return OK
    }
    const types = [
      typeOf(run, {
        name: 'needy',
        needs: [['tag_server_url'], ['warehouse_project', 'warehouse_dataset']],
      }),
      typeOf(run, {
        name: 'strict',
        config: Type.Object({ least: Type.Integer({ default: 1 }) }, { additionalProperties: false }),
      }),
    ]
    await runDue(await openNode(t, store, newClock(), types))
    const messages = [...(await resultsOf(store, probe.id)), ...(await resultsOf(store, bad.id))].map(
      ({ status, message }) => [status, message],
    )
    assert.deepEqual(messages, [
      ['error', 'The site has no tag_server_url, or warehouse_project and warehouse_dataset'],
      ['error', 'The settings are not valid: /config/least must be a whole number'],
    ])
    assert.equal(runs, 0)
  },
)

testLogic('an outcome that cannot be kept is an error; details that are too long are left out', async (store, t) => {
  const site = await insertSite(store)
  const circle: Record<string, unknown> = {}
  circle.again = circle
  const types = [
    typeOf(async () => ({ ...OK, details: circle }), { name: 'circle' }),
    typeOf(async () => ({ ...OK, memory: { text: 'x'.repeat(70_000) } }), { name: 'memory' }),
    typeOf(async () => ({ ...OK, message: 'm'.repeat(2_000), details: { text: 'x'.repeat(20_000) } }), {
      name: 'long',
    }),
  ]
  const node = await openNode(t, store, newClock(), types)
  const found: unknown[] = []
  for (const { name } of types) {
    const probe = await insertProbe(store, site.id, { probe_type: name })
    await runDue(node)
    const [result] = await resultsOf(store, probe.id)
    found.push([result?.status, result?.details, result?.message.length])
    assert.equal((await probeRow(store, probe.id)).memory, '{}')
  }
  assert.deepEqual(
    found.map((entry) => (entry as unknown[]).slice(0, 2)),
    [
      ['error', '{"reason":"bad_outcome"}'],
      ['error', '{"reason":"bad_outcome"}'],
      ['ok', '{"reason":"details_too_long","length":20011}'],
    ],
  )
  assert.equal((found[2] as unknown[])[2], 1_000)
})

testLogic('counts are judged as of when all of them were in, and other things as of now', async (store, t) => {
  const [early, late] = [await insertSite(store), await insertSite(store)]
  const clock = newClock()
  const now = clock.now()
  const times: number[] = []
  const typeOfKind = (kind: 'data' | 'wire') =>
    typeOf(
      (context) => {
        times.push(context.now)
        return Promise.resolve(OK)
      },
      { name: kind, kind },
    )
  const runOf = async (siteId: string, kind: 'data' | 'wire') => {
    times.length = 0
    const { id } = await insertProbe(store, siteId, { probe_type: kind })
    await runDue(await openNode(t, store, clock, [typeOfKind(kind)]))
    await store.write.deleteFrom('probes').where('id', '=', id).execute()
    return now - (times[0] ?? 0)
  }
  const write = (siteNo: number, ageMs: number) =>
    store.write
      .insertInto('journal')
      .values({ node_id: 'busy', seq: startOfLane(laneOf(siteNo, 8)) + 1, written_at: now - ageMs, payload: '[]' })
      .execute()
  await write(early.site_no, 3 * SECOND)
  await write(late.site_no, 20 * SECOND)
  assert.equal(await runOf(early.id, 'data'), 3 * SECOND)
  assert.equal(await runOf(late.id, 'data'), 20 * SECOND)
  assert.equal(await runOf(late.id, 'wire'), 0)
  // Further behind than that is no matter of waiting: the type says that it cannot judge.
  await store.write
    .updateTable('journal')
    .set({ written_at: now - 3 * MINUTE })
    .execute()
  clock.advance(SECOND)
  assert.equal(await runOf(late.id, 'data'), -SECOND)
  // Read half a second ago, when nothing waited: of what came since nothing is known.
  await store.write.deleteFrom('journal').execute()
  clock.advance(SECOND)
  assert.equal(await runOf(late.id, 'data'), -2 * SECOND)
  clock.advance(SECOND / 2)
  assert.equal(await runOf(late.id, 'data'), -2 * SECOND)
})
