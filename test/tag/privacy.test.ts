import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Plain, Template } from '../../tag/sandbox/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { openEndpoint } from './endpoint.ts'
import { fieldsFor, NOW, openContainer, readTemplate } from './support.ts'

/** Stands in every content of these events, and in nothing else. */
const MARK = 'zqj'

/** Every name under which the template or a client might keep something. */
const NAMES = [
  ...['email', 'email_address', 'sha256_email', 'sha256_email_address', 'phone', 'phone_number', 'sha256_phone_number'],
  ...[
    'first_name',
    'firstName',
    'nameFirst',
    'last_name',
    'lastName',
    'nameLast',
    'sha256_first_name',
    'sha256_last_name',
    'name',
    'value',
  ],
  ...['street', 'postal_code', 'city', 'region', 'country', 'currency', 'transaction_id', 'items', 'item_id', 'id'],
]

/** What other templates may say, with content where it does not belong. */
const MESSAGES = [
  { tag: 7, status: 400, url: `https://vendor.example/${MARK}`, body: MARK },
  { tag: MARK, status: 500 },
  { tag: 7, status: MARK },
  { tag: { [MARK]: MARK }, status: { [MARK]: MARK } },
  [MARK],
  MARK,
].map((message) => ({ type: 'tagwarden_status', message }))

type Content = (path: string) => Plain

const objectOf = (path: string, content: Content): Plain =>
  Object.fromEntries(NAMES.map((name) => [name, content(`${path}.${name}`)]))

/** The shapes in which a field may come, each with content of its own down to the last leaf. */
const SHAPES: readonly Content[] = [
  (path) => `${MARK} ${path}@example.com`,
  (path) => [`${MARK} ${path}`, `${MARK} ${path} again`],
  (path) => objectOf(path, (leaf) => `${MARK} ${leaf}`),
  (path) => ({
    ...Object(objectOf(path, (leaf) => [`${MARK} ${leaf}`])),
    address: [objectOf(path, (l) => `${MARK} ${l}`)],
  }),
  (path) => [objectOf(path, (leaf) => ({ [`${MARK} key`]: `${MARK} ${leaf}` }))],
]

/** The fields that the template may read at all, by its own permissions. */
function readableFields(template: Template): string[] {
  const keys = template.permissions.find(({ publicId }) => publicId === 'read_event_data')?.params.keyPatterns
  assert.ok(Array.isArray(keys))
  return keys.map(String)
}

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
