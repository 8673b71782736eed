import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestClock } from '../../testkit/clock.ts'
import { openEndpoint } from './endpoint.ts'
import { MARK, MESSAGES, readableFields, SHAPES } from './marked.ts'
import { fieldsFor, NOW, openContainer, readTemplate } from './support.ts'

async function sendEverything(t: TestContext, sendMode: string, status: number) {
  const template = await readTemplate()
  const clock = new TestClock(NOW)
  const endpoint = await openEndpoint(t)
  endpoint.ending = status
  const container = await openContainer(t, clock, endpoint.address, {
    template,
    fields: fieldsFor('key', {
      sendMode,
      batchSize: 3,
      logMode: 'failures',
      ownParameters: SHAPES.map((shape, index) => ({ name: `own ${index}`, value: shape('own') })),
    }),
  })
  const fields = readableFields(template).filter((field) => field !== 'event_name')
  assert.ok(fields.includes('user_data') && fields.includes('email') && fields.includes('items'))
  for (const preview of [false, true]) {
    for (const event_name of ['purchase', 'page_view']) {
      for (const shape of SHAPES) {
        const content = Object.fromEntries(fields.map((field) => [field, shape(field)]))
        const elsewhere = { ip_override: `${MARK} ip`, page_location: `https://shop.example/?${MARK}`, user_id: MARK }
        const tags = [
          { id: 7, status: 'failure', executionTime: 4, metadata: { note: `${MARK} note` }, messages: MESSAGES },
        ]
        await container.fire({ ...elsewhere, ...content, event_name }, tags, { preview })
        clock.advance(31_000)
      }
    }
  }
  await container.idle()
  return container
}

for (const sendMode of ['per_event', 'batched']) {
  for (const status of [200, 500]) {
    test(`no byte of what an event holds leaves the tag: ${sendMode}, answered ${status}`, async (t) => {
      const container = await sendEverything(t, sendMode, status)
      assert.ok(container.requests.length > 6)
      for (const { bytes } of container.requests) assert.doesNotMatch(bytes, new RegExp(MARK, 'i'))
      assert.ok(container.logs.length > 5)
      for (const { text } of container.logs) assert.doesNotMatch(text, new RegExp(MARK, 'i'))
      assert.ok(!JSON.stringify(container.storage(0)).includes(MARK), 'nothing of it is kept either')
      assert.deepEqual(container.errors, [])
      assert.ok(
        container.requests.some(({ body }) => /"has_email":true|"email":[1-9]/.test(body)),
        'that it was there is reported',
      )
      assert.ok(
        container.requests.some(({ body }) => /"own 0":(true|\{"present":[1-9])/.test(body)),
        'that parameters of the table were there is reported',
      )
      assert.ok(
        container.requests.some(({ body }) => /"response":"4xx"|"response_4xx":[1-9]/.test(body)),
        'how vendors answered is reported',
      )
    })
  }
}
