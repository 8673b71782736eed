import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { TestClock } from '../../testkit/clock.ts'
import { Random } from '../../testkit/random.ts'
import { openEndpoint } from './endpoint.ts'
import { fieldsFor, NOW, openContainer } from './support.ts'
import { randomEvent } from './traffic.ts'

const SCHEMA = join(import.meta.dirname, '../../contract/ingest.schema.json')

/** The contract with every object closed that lists its fields: the service ignores others, the tag must not send any. */
async function closedContract(): Promise<object> {
  return JSON.parse(await readFile(SCHEMA, 'utf8'), (_key, value: unknown) => {
    const isObject = typeof value === 'object' && value !== null && 'properties' in value && 'type' in value
    return isObject && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value
  }) as object
}

for (const sendMode of ['per_event', 'batched']) {
  test(`what the tag sends is the contract's payload and nothing else: ${sendMode}`, async (t) => {
    const isValid = new Ajv2020({ strict: false }).compile(await closedContract())
    assert.ok(!isValid({ container_id: 'GTM-A', event_name: 'x', timestamp_ms: 1, tags: [], more: 1 }))
    for (const trackUserData of [true, false]) {
      const endpoint = await openEndpoint(t)
      const ownParameters = [
        ...Array.from({ length: 25 }, (_, row) => ({
          name: `own ${row}`,
          value: row,
          eventName: row % 2 ? 'purchase' : '',
        })),
        { name: 'n'.repeat(300), value: 'a', eventName: 'page_view' },
      ]
      const fields = fieldsFor('key', { sendMode, batchSize: 7, trackUserData, ownParameters })
      const container = await openContainer(t, new TestClock(NOW), endpoint.address, { fields })
      const random = new Random(5)
      for (let n = 0; n < 210; n++) {
        const { data, tags } = randomEvent(random)
        await container.fire(data, tags)
      }
      await container.fire({}, [{ id: 1, status: 'unheard of', metadata: { name: 'n'.repeat(300) } }])
      await container.idle()
      assert.equal(endpoint.received.length, sendMode === 'batched' ? 30 : 211)
      for (const { body } of endpoint.received) assert.ok(isValid(JSON.parse(body)), JSON.stringify(isValid.errors))
    }
  })
}

test('an event that stands for others keeps to the contract', async (t) => {
  const isValid = new Ajv2020({ strict: false }).compile(await closedContract())
  const endpoint = await openEndpoint(t)
  const container = await openContainer(t, new TestClock(NOW), endpoint.address, {
    fields: fieldsFor('key', { sampleEvery: 1_000 }),
    random: () => 0,
  })
  await container.fire({ event_name: 'purchase' }, [{ id: 1, status: 'success' }])
  await container.idle()
  const [sent] = endpoint.received.map(({ body }) => JSON.parse(body) as { weight?: number })
  assert.ok(isValid(sent), JSON.stringify(isValid.errors))
  assert.equal(sent?.weight, 1_000)
})

test('data that is no text ends neither the tag nor one that sends a message, and no two such transactions are one', async (t) => {
  const endpoint = await openEndpoint(t)
  const container = await openContainer(t, new TestClock(NOW), endpoint.address, { fields: fieldsFor('key') })
  // What a visitor's JSON may hold: it cannot be made a text.
  const odd = { toString: 'a', valueOf: 'a' }
  const event = {
    ...{ event_name: 'purchase', value: odd, currency: odd, transaction_id: odd, 'x-ga-npa': odd, page_location: odd },
    ...{ consent_state: { ad_storage: odd }, user_data: { email: odd, address: [odd] }, 'x-ga-gcs': odd },
  }
  const messages = [{ type: 'tagwarden_status', message: { tag: odd, status: odd } }]
  for (const _ of [1, 2]) {
    const { status, errors } = await container.fire(event, [{ id: 1, status: 'success', messages }])
    assert.deepEqual([status, errors], ['success', []])
  }
  await container.idle()
  assert.deepEqual(container.errors, [])
  const sent = endpoint.received.map(({ body }) => JSON.parse(body) as Record<string, Record<string, unknown>>)
  assert.deepEqual(
    sent.map(({ ecommerce, consent }) => [
      ...[ecommerce?.value_zero, ecommerce?.value_invalid, ecommerce?.currency_invalid],
      ...[ecommerce?.transaction_duplicate, consent?.ad_storage],
    ]),
    [1, 2].map(() => [false, true, true, false, 'absent']),
  )
})
