import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Payload } from '../../src/journal/payload.ts'
import { ceilTo, DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { subjectKey } from '../../src/probes/index.ts'
import { tagMissing } from '../../src/probes/types/tag-missing.ts'
import type { Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { event } from '../../testkit/payloads.ts'
import { count } from '../analytics/support.ts'
import { every } from '../probes/types/data-support.ts'
import { alertRows, outbox, watch } from './support.ts'

const EVENTS = ['purchase', 'lead', 'view', 'renewal'] as const
type EventName = (typeof EVENTS)[number]

/** Between two of them; a rare one is seen to be missing hours after the others. */
const EVERY: Readonly<Record<EventName, number>> = {
  purchase: 30 * MINUTE,
  lead: 30 * MINUTE,
  view: 30 * MINUTE,
  renewal: 6 * HOUR,
}

/** A site whose tag Ads belongs to these events, with its real `tag_missing`. */
async function watchAds(t: TestContext, store: Store) {
  const config = JSON.stringify({ reference_occurrences: 20 })
  const seen = await watch(t, store, { probe_type: tagMissing.name, config }, { type: tagMissing })
  let until = floorTo(seen.clock.now(), DAY) - 8 * DAY
  /** Time goes on by `length`, in which Ads runs on all events but these. */
  const pass = async (length: number, without: readonly EventName[] = []) => {
    const from = until
    until += length
    const payloads = EVENTS.flatMap((event_name): Payload[] =>
      every(EVERY[event_name], ceilTo(from, EVERY[event_name]), until).map((time) =>
        event(time, {
          event_name,
          tags: without.includes(event_name) ? [] : [{ id: '1', name: 'Ads', status: 'success' }],
        }),
      ),
    )
    await count(store, seen.site, payloads)
    if (until > seen.clock.now()) seen.clock.advance(until - seen.clock.now())
    await rollUpAll(store, seen.clock.now())
    for (const loop of seen.node.membership.loops) await loop.tick()
    await seen.find('o')
  }
  await pass(seen.clock.now() - until)
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind)
  return { ...seen, pass, kinds }
}

testOnEveryEngine(
  'a tag that breaks on one event names it, and the same alert notifies of a second one',
  async (store, t) => {
    const { pass, kinds } = await watchAds(t, store)
    await pass(17 * HOUR, ['purchase'])
    const [alert, ...others] = await alertRows(store)
    assert.deepEqual([alert?.subject, alert?.bad_events, others], [subjectKey({ tag_key: 'Ads' }), '["purchase"]', []])
    assert.match(alert?.title ?? '', /^“Ads” ran on 0 of the last \d+ “purchase” events/)
    await pass(HOUR, ['purchase'])
    assert.deepEqual(await kinds(), ['opened'], 'what lasts is no news')
    await pass(17 * HOUR, ['purchase', 'lead'])
    await pass(HOUR, ['purchase', 'lead'])
    const rows = await alertRows(store)
    assert.deepEqual([rows.length, rows[0]?.id, rows[0]?.bad_events], [1, alert?.id, '["purchase","lead"]'])
    assert.match(rows[0]?.message ?? '', /“(purchase|lead)” events .* \(likewise on “(purchase|lead)”\)$/)
    const messages = await outbox(store)
    assert.deepEqual(
      messages.map(({ kind, facts }) => [kind, facts.find(({ name }) => name === 'Now also on')?.value]),
      [
        ['opened', undefined],
        ['widened', '“lead”'],
      ],
    )
  },
)

testLogic('a tag that breaks on all its events is one subject and one message', async (store, t) => {
  const { pass, kinds } = await watchAds(t, store)
  for (let hours = 0; hours < 20; hours += 2) await pass(2 * HOUR, EVENTS)
  assert.deepEqual(await kinds(), ['opened', 'escalated'], 'too few at first to be sure; none of its events is news')
  const [alert, ...others] = await alertRows(store)
  assert.deepEqual(others, [])
  assert.deepEqual(new Set(JSON.parse(alert?.bad_events ?? '[]') as string[]), new Set(EVENTS))
})

testLogic('for an alert from an earlier version, the events of its next result are no news', async (store, t) => {
  const { pass, kinds, site, probe, clock } = await watchAds(t, store)
  const at = clock.now()
  await insertAlert(store, site, at, {
    probe_id: probe.id,
    subject: subjectKey({ tag_key: 'Ads' }),
    confirmed_at: at,
    announced_at: at,
    notified_severity: 'critical',
  })
  await pass(17 * HOUR, ['purchase'])
  assert.deepEqual(await kinds(), [])
  await pass(17 * HOUR, ['purchase', 'lead'])
  assert.deepEqual(await kinds(), ['widened'])
})
