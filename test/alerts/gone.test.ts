import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Payload } from '../../src/journal/payload.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { type ProbeOutcome, subjectKey } from '../../src/probes/index.ts'
import { tagFailureRate } from '../../src/probes/types/tag-failure-rate.ts'
import type { ProbeRow, Store } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { event } from '../../testkit/payloads.ts'
import { count } from '../analytics/support.ts'
import { typeOf } from '../probes/support.ts'
import { every } from '../probes/types/data-support.ts'
import { alertRows, outbox, watch } from './support.ts'

/** What a run sees of the tag Meta: bad, fine, nothing at all, or nothing because what is sent is refused. */
type Sight = 'bad' | 'fine' | 'unseen' | 'refused'

/** A probe that judges GA4, which is fine, and Meta, as the test says. */
async function watchMeta(t: TestContext, store: Store, probe: Partial<ProbeRow> = {}) {
  let sight: Sight = 'fine'
  const seen = await watch(t, store, probe, { type: typeOf(async () => outcomeOf(sight)) })
  const see = async (now: Sight, after = 0) => {
    sight = now
    seen.clock.advance(after)
    await seen.find('o')
  }
  const endings = async () => (await alertRows(store)).map(({ resolution }) => resolution)
  return { ...seen, see, endings }
}

function outcomeOf(sight: Sight): ProbeOutcome {
  const fine = [{ tag_key: 'GA4' }, ...(sight === 'fine' ? [{ tag_key: 'Meta' }] : [])]
  const isRefused = sight === 'refused'
  if (sight !== 'bad') return { status: 'ok', message: 'fine', details: {}, findings: [], fine, isRefused }
  const subject = { tag_key: 'Meta' }
  const finding = { subject, status: 'critical', message: 'Meta fails', startedAt: null, details: {} } as const
  return { status: 'critical', message: 'Meta fails', details: {}, findings: [finding], fine }
}

testOnEveryEngine(
  'a tag that is not sent any more ends its alert as gone after a day, not as recovered',
  async (store, t) => {
    const { see, endings } = await watchMeta(t, store)
    await see('bad')
    await see('unseen')
    await see('unseen', 22 * HOUR)
    assert.deepEqual(await endings(), [null], 'silence is no recovery')
    await see('unseen', 2 * HOUR)
    assert.deepEqual(await endings(), ['gone'])
    const [alert] = await alertRows(store)
    const events = await store.read
      .selectFrom('alert_events')
      .select(['kind', 'text'])
      .where('alert_id', '=', alert?.id ?? '')
      .where('kind', '=', 'resolved')
      .execute()
    assert.deepEqual(events, [{ kind: 'resolved', text: 'No longer seen: no data about it arrived for 24 hours' }])
    const messages = await outbox(store)
    assert.deepEqual(
      messages.map((message) => [message.kind, message.alert.resolution]),
      [
        ['opened', null],
        ['resolved', 'gone'],
      ],
    )
  },
)

testLogic('a tag that comes back and works within the day has recovered', async (store, t) => {
  const { see, endings } = await watchMeta(t, store)
  await see('bad')
  for (let hour = 0; hour < 22; hour++) await see('unseen', HOUR)
  assert.deepEqual(await endings(), [null], 'also when nothing is left of what was known of it')
  await see('fine')
  assert.deepEqual(await endings(), ['recovered'])
})

testLogic('results that did not see a tag do not count towards its recovery', async (store, t) => {
  const { see, endings } = await watchMeta(t, store, { recovery_threshold: 2 })
  await see('bad')
  await see('unseen')
  await see('fine')
  assert.deepEqual(await endings(), [null])
  await see('fine')
  assert.deepEqual(await endings(), ['recovered'])
})

testLogic('a tag whose events are refused is not gone', async (store, t) => {
  const { see, endings } = await watchMeta(t, store)
  await see('bad')
  await see('refused', 3 * DAY)
  await see('refused')
  assert.deepEqual(await endings(), [null])
})

testLogic('time in which this service took no requests is not counted', async (store, t) => {
  const { see, endings, clock } = await watchMeta(t, store)
  await see('bad')
  const began_at = clock.now() + HOUR
  await store.write
    .insertInto('outages')
    .values({ began_at, ended_at: began_at + 10 * HOUR })
    .execute()
  await see('unseen', 30 * HOUR)
  assert.deepEqual(await endings(), [null])
  await see('unseen', 4 * HOUR)
  assert.deepEqual(await endings(), ['gone'])
})

const runs = (from: number, to: number, tags: readonly { name: string; status: 'success' | 'failure' }[]): Payload[] =>
  every(10 * MINUTE, from, to).map((time) =>
    event(time, { event_name: 'purchase', tags: tags.map((tag) => ({ id: tag.name, ...tag })) }),
  )

for (const [what, others] of [
  ['while others run', [{ name: 'GA4', status: 'success' as const }]],
  ['while nothing else runs', []],
] as const) {
  testOnEveryEngine(`a failing tag that is removed is gone a day after its last run, ${what}`, async (store, t) => {
    const { clock, node, site, find } = await watch(
      t,
      store,
      { probe_type: tagFailureRate.name },
      { type: tagFailureRate },
    )
    const start = clock.now()
    const go = async (until: number) => {
      if (until > clock.now()) clock.advance(until - clock.now())
      await rollUpAll(store, clock.now())
      for (const loop of node.membership.loops) await loop.tick()
      await find('o')
    }
    await count(store, site, runs(start - 12 * HOUR, start, [{ name: 'Meta', status: 'failure' }, ...others]))
    await count(store, site, runs(start, start + 26 * HOUR, others))
    const ends = async () => (await alertRows(store)).map(({ subject, resolution }) => [subject, resolution])
    await go(start)
    // It looks back a day, and so finds bad what has stopped.
    await go(start + 14 * HOUR)
    assert.equal((await alertRows(store))[0]?.occurrences, 2)
    await go(start + 22 * HOUR)
    assert.deepEqual(await ends(), [[subjectKey({ tag_key: 'Meta' }), null]])
    await go(start + 26 * HOUR)
    assert.deepEqual(await ends(), [[subjectKey({ tag_key: 'Meta' }), 'gone']])
  })
}
