import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OtherTag, Plain } from '../../tag/sandbox/index.ts'
import { amount } from '../../testkit/length.ts'
import { MARK, MESSAGES, readableFields } from './marked.ts'
import { fieldsFor, openContainer, overviewOf, readTemplate, startMonitored } from './support.ts'

const EVENTS = amount(100, 2_000)
const BATCH_SIZE = 10

/** What a site may put where a text or a number belongs. */
const leaf = fc.oneof(
  fc.constantFrom<Plain>('', '  ', '0', '12,50', 'eur', null, true, false, 0, -1, Number.NaN, 1e300),
  fc.string({ unit: 'binary' }).map((text) => `${text}${MARK}`),
)
const NAMES = [
  'email',
  'sha256_email_address',
  'address',
  'first_name',
  'value',
  'items',
  'toString',
  '__proto__',
  '_fbp',
]
const content = fc.letrec<{ any: Plain }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('any'), { maxKeys: 4 }),
  ),
})).any

/** Names come from outside, too: any characters, halves of them, and more of them than the service takes. */
const name = fc.oneof(
  fc.constantFrom('purchase', 'add_to_cart', 'page_view', '__proto__', 'constructor', '(other)', '', ' '),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', minLength: 250, maxLength: 300, size: 'max' }),
  fc.constant(`${'n'.repeat(255)}😀`),
  fc
    .array(fc.constantFrom('\ud83d', '\ude00', '\0', '\n', '\u202e', 'a'), { maxLength: 300 })
    .map((all) => all.join('')),
)
const tag: fc.Arbitrary<OtherTag> = fc
  .record({
    id: fc.oneof(fc.nat(), fc.constantFrom(-1, 1e21)),
    status: fc.constantFrom('success', 'failure', 'timeout', 'exception', '', 'unheard of'),
    executionTime: fc.oneof(fc.nat(), fc.constantFrom(0.5, -1, Number.NaN, 2 ** 60)),
    name,
  })
  .map(({ name: own, ...rest }) => ({ ...rest, metadata: { name: own }, messages: MESSAGES }))

for (const sendMode of ['per_event', 'batched']) {
  test(`the service takes what the tag makes of any event, and nothing of what it holds: ${sendMode}`, async (t) => {
    const template = await readTemplate()
    const keys = readableFields(template).filter((key) => key !== 'event_name')
    const any = fc.record({
      event: fc.dictionary(fc.constantFrom(...keys), content, { maxKeys: 20, size: 'max' }),
      event_name: fc.oneof({ arbitrary: name, weight: 9 }, { arbitrary: content, weight: 1 }),
      tags: fc.array(tag, { maxLength: 5 }),
    })
    const monitored = await startMonitored(t)
    const { clock, api, site } = monitored
    const fields = fieldsFor(site.ingest_key, { sendMode, batchSize: BATCH_SIZE, excludeTagIds: [] })
    const container = await openContainer(t, clock, api.url, { template, fields })
    for (const { event, event_name, tags } of fc.sample(any, { numRuns: EVENTS, seed: 18 })) {
      const isName = typeof event_name === 'string' && !event_name.includes(MARK)
      const run = await container.fire({ ...event, ...(isName ? { event_name } : { event_name: [event_name] }) }, tags)
      assert.deepEqual([run.status, run.errors], ['success', []])
      await container.idle()
    }
    assert.deepEqual(container.errors, [])
    const requests = sendMode === 'batched' ? EVENTS / BATCH_SIZE : EVENTS
    assert.deepEqual([container.sent.requests, container.sent.accepted], [requests, requests])
    const overview = await overviewOf(monitored)
    assert.deepEqual([overview.rejections, overview.total_events], [{}, EVENTS])
    for (const { bytes } of container.requests) assert.doesNotMatch(bytes, new RegExp(MARK, 'i'))
  })
}
