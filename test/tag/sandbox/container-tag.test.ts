import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ORIGIN, OUTCOME, start } from './container.ts'
import { ANY_URL, fixture, permission, reporting } from './fixture.ts'

const WAITS = "require('sendHttpRequest')(data.url).then(data.gtmOnSuccess, data.gtmOnFailure);"

const STATUSES: readonly { what: string; code: string; status: string; errors?: RegExp }[] = [
  { what: 'fails at once', code: 'data.gtmOnFailure(); data.gtmOnSuccess();', status: 'failure' },
  { what: 'signals nothing', code: 'const a = 1;', status: 'timeout' },
  { what: 'throws', code: 'undefined.a;', status: 'exception', errors: /TypeError/ },
  {
    what: 'ends with its request',
    code: `const url = '${ORIGIN}/a'; ${WAITS.replace('data.url', 'url')}`,
    status: 'success',
  },
  {
    what: 'fails with its request',
    code: `const url = 'https://no.test/'; ${WAITS.replace('data.url', 'url')}`,
    status: 'failure',
  },
  {
    what: 'waits for its own callback',
    code: "require('addEventCallback')(() => data.gtmOnSuccess());",
    status: 'timeout',
  },
  {
    what: 'asks for an API without permission',
    code: "require('templateDataStorage'); data.gtmOnSuccess();",
    status: 'exception',
    errors: /access_template_storage/,
  },
  {
    what: 'asks for an unknown API',
    code: "require('fetch'); data.gtmOnSuccess();",
    status: 'exception',
    errors: /no API "fetch"/,
  },
  {
    what: 'calls an address outside its permission',
    code: "require('sendHttpRequest')('http://tagwarden.test/'); data.gtmOnSuccess();",
    status: 'exception',
    errors: /send_http does not allow http:/,
  },
  {
    what: 'sends a body that is no text',
    code: `require('sendHttpRequest')('${ORIGIN}', {}, { a: 1 }); data.gtmOnSuccess();`,
    status: 'exception',
    errors: /body of sendHttpRequest must be text/,
  },
  {
    what: 'reads a key outside its permission',
    code: "require('getEventData')('user_data'); data.gtmOnSuccess();",
    status: 'exception',
    errors: /read_event_data does not allow "user_data"/,
  },
  {
    what: 'reads a key of its permission',
    code: "require('getEventData')('items.0.id'); require('getEventData')('event_name'); data.gtmOnSuccess();",
    status: 'success',
  },
  {
    what: 'reads everything with narrow access',
    code: "require('getAllEventData')(); data.gtmOnSuccess();",
    status: 'exception',
    errors: /access to any key/,
  },
  {
    what: 'asks what it may',
    code: "if (require('queryPermission')('send_http', 'https://tagwarden.test/a') && !require('queryPermission')('read_event_data', 'a')) data.gtmOnFailure();",
    status: 'failure',
  },
]

for (const { what, code, status, errors } of STATUSES) {
  test(`A tag that ${what} ends as ${status}`, async (t) => {
    const text = fixture({
      code,
      permissions: [
        permission('read_event_metadata'),
        permission('send_http', {
          allowedUrls: 'specific',
          urls: ['https://*.test/', 'https://tagwarden.test/*', 'https://no.test/'],
        }),
        permission('read_event_data', { eventDataAccess: 'specific', keyPatterns: ['event_name', 'items.*'] }),
      ],
    })
    const { container } = await start(t, { text })
    const run = await container.fire({ event_name: 'a', user_data: {} }, [])
    assert.equal(run.status, status)
    assert.match(run.errors.join(), errors ?? /^$/)
  })
}

test('An exception in a callback is noted and does not keep the others from running', async (t) => {
  const { container, received } = await start(t, {
    text: reporting('addEventCallback(() => undefined.a);\naddEventCallback(() => send(1));'),
  })
  const run = await container.fire({}, [])
  await container.idle()
  assert.deepEqual([run.status, run.errors.length, received.length], ['success', 1, 1])
})

test('A callback registered after the end of its event never runs', async (t) => {
  const { container, received } = await start(t, {
    text: reporting('addEventCallback(() => addEventCallback(() => send(1)));'),
  })
  await container.fire({}, [])
  await container.idle()
  assert.equal(received.length, 0)
  assert.match(container.errors.join(), /after the end of its event/)
})

test('A rejection that nobody handles is noted', async (t) => {
  const text = fixture({
    code: "require('sendHttpRequest')('https://nowhere.test/');\ndata.gtmOnSuccess();",
    permissions: [ANY_URL],
  })
  const { container } = await start(t, { text })
  await container.fire({}, [])
  await container.idle()
  assert.deepEqual(container.errors, ['{"reason":"failed"}'])
})

test('Settings have the defaults of the form, and others are refused', async (t) => {
  const text = reporting('addEventCallback(() => send([data.mode, data.endpoint]));').replace(
    '[]\n\n\n___SANDBOXED',
    `${JSON.stringify([
      { type: 'TEXT', name: 'mode', defaultValue: 'a' },
      { type: 'TEXT', name: 'endpoint', defaultValue: 'b' },
    ])}\n\n\n___SANDBOXED`,
  )
  const { container, received } = await start(t, { text, fields: { endpoint: 'c' } })
  await container.fire({}, [])
  await container.idle()
  assert.equal(received[0]?.body, '["a","c"]')
  await assert.rejects(start(t, { text, fields: { endpiont: 'c' } }), /no parameter "endpiont"/)
})

test('Random numbers come from where the options say', async (t) => {
  const { container, received } = await start(t, {
    text: reporting(
      "addEventCallback(() => send([require('generateRandom')(1, 6), require('generateRandom')(1, 6)]));",
    ),
    random: () => 0.999,
  })
  await container.fire({}, [])
  await container.idle()
  assert.equal(received[0]?.body, '[6,6]')
})

test('An entry of connect that is no origin is refused', async (t) => {
  await assert.rejects(
    start(t, { text: OUTCOME, connect: { 'tagwarden.test': 'http://127.0.0.1:1' } }),
    /no http or https origin/,
  )
})
