import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OtherTag } from '../../../tag/sandbox/index.ts'
import { until } from '../../../testkit/until.ts'
import { OUTCOME, STORAGE, start } from './container.ts'
import { ANY_EVENT_DATA, DEBUG_LOG, fixture, permission, reporting } from './fixture.ts'

const TAGS: OtherTag[] = [
  { id: 94, status: 'failure', executionTime: 0, metadata: { name: 'Ads', group: 'a' } },
  { id: 7, status: 'success' },
]

test('A tag gets its event, sends over HTTP, and its callback sees all tags in order of their ids', async (t) => {
  const { container, received } = await start(t, {
    text: reporting(
      `const getEventData = require('getEventData');
const getTimestampMillis = require('getTimestampMillis');
const city = getEventData('user_data.address.0.city');
const at = getTimestampMillis();
addEventCallback((id, event) => send([id, at, city, getEventData('none'), getEventData('name.length'), event]));`,
      [ANY_EVENT_DATA],
    ),
    tagId: 20,
    tagMetadata: { name: 'Own' },
  })
  const run = await container.fire({ name: 'a', user_data: { address: [{ city: 'Bonn' }] } }, TAGS)
  assert.deepEqual(run, { instance: 0, status: 'success', errors: [] })
  await container.idle()
  const expected = [
    'GTM-TEST123',
    1_700_000_000_000,
    'Bonn',
    null,
    null,
    {
      tags: [
        { id: 7, status: 'success' },
        { name: 'Own', id: 20, status: 'success', executionTime: 0 },
        { name: 'Ads', group: 'a', id: 94, status: 'failure', executionTime: 0 },
      ],
    },
  ]
  assert.deepEqual(
    received.map(({ path, body, host }) => ({ path, host, body: JSON.parse(body) })),
    [{ path: '/ingest', host: 'tagwarden.test', body: expected }],
  )
  assert.deepEqual(container.sent, {
    ...NONE,
    requests: 1,
    answered: 1,
    accepted: 1,
    bodyBytes: received[0]?.body.length,
  })
  assert.ok(container.requests[0]?.bytes.includes('Bonn'))
  assert.deepEqual(container.errors, [])
})

test('What crosses the border is a copy', async (t) => {
  const event = { list: [1], deep: { a: 1 } }
  const { container, received } = await start(t, {
    text: reporting(
      `const getAllEventData = require('getAllEventData');
const storage = require('templateDataStorage');
const mine = getAllEventData();
mine.list.push(2);
mine.deep.a = 2;
const kept = { list: [1] };
storage.setItemCopy('kept', kept);
kept.list.push(2);
storage.getItemCopy('kept').list.push(3);
addEventCallback((id, info) => {
  info.tags[0].id = 0;
  send([getAllEventData(), storage.getItemCopy('kept'), storage.getItemCopy('none')]);
});`,
      [ANY_EVENT_DATA, STORAGE],
    ),
  })
  const tags = [{ id: 2, status: 'success' }]
  await container.fire(event, tags)
  await container.idle()
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body)),
    [[event, { list: [1] }, null]],
  )
  assert.deepEqual([event, tags], [{ list: [1], deep: { a: 1 } }, [{ id: 2, status: 'success' }]])
  assert.deepEqual(container.storage(0), { kept: { list: [1] } })
})

const COUNTING = reporting(
  `const storage = require('templateDataStorage');
addEventCallback(() => {
  const count = (storage.getItemCopy('count') || 0) + 1;
  storage.setItemCopy('count', count);
  if (count === 3) { storage.removeItem('count'); send(count); }
});`,
  [STORAGE],
)

test('Each instance has a storage of its own, and takes its turn', async (t) => {
  const { container } = await start(t, { text: COUNTING, instances: 3 })
  const served = []
  for (let event = 0; event < 7; event++) served.push((await container.fire({}, [])).instance)
  assert.deepEqual(served, [0, 1, 2, 0, 1, 2, 0])
  await container.idle()
  assert.deepEqual(
    [0, 1, 2].map((index) => container.storage(index)),
    [{}, { count: 2 }, { count: 2 }],
  )
  assert.equal(container.sent.requests, 1)
})

test('A lost instance takes its storage with it and its successor starts from nothing', async (t) => {
  const { container } = await start(t, { text: COUNTING, instances: 2 })
  for (const instance of [0, 0, 1]) await container.fire({}, [], { instance })
  assert.deepEqual(container.lose(0), { storage: { count: 2 }, requests: 0 })
  assert.deepEqual([container.storage(0), container.storage(1)], [{}, { count: 1 }])
  await container.fire({}, [], { instance: 0 })
  assert.deepEqual(container.storage(0), { count: 1 })
})

test('A request under way is lost with its instance, and no handler runs any more', async (t) => {
  const { container, received } = await start(t, { text: OUTCOME, answer: () => {} })
  await container.fire({}, [])
  await until('the request arrives', () => received[0])
  assert.deepEqual(container.lose(0), { storage: {}, requests: 1 })
  await until('the request is lost', () => (container.sent.lost === 1 ? true : undefined))
  assert.deepEqual([container.storage(0), container.requests[0]?.outcome, container.errors], [{}, 'lost', []])
})

test('A preview session has a throw-away storage, debug flags and debug logs', async (t) => {
  const { container, received } = await start(t, {
    text: reporting(
      `const storage = require('templateDataStorage');
const getContainerVersion = require('getContainerVersion');
const logToConsole = require('logToConsole');
logToConsole('seen', { a: 1 });
const before = storage.getItemCopy('kept');
storage.setItemCopy('kept', 1);
const version = getContainerVersion();
addEventCallback(() => send([before, storage.getItemCopy('kept'), version.previewMode, version.debugMode]));`,
      [STORAGE, DEBUG_LOG, permission('read_container_data')],
    ),
  })
  for (const preview of [true, true, false, false]) await container.fire({}, [], { preview })
  await container.idle()
  assert.deepEqual(received.map(({ body }) => body).toSorted(), [
    '[1,1,false,false]',
    '[null,1,false,false]',
    '[null,1,true,true]',
    '[null,1,true,true]',
  ])
  assert.deepEqual(container.logs, [
    { instance: 0, text: 'seen {"a":1}' },
    { instance: 0, text: 'seen {"a":1}' },
  ])
})

test('The logging permission for all environments prints outside of preview', async (t) => {
  const text = fixture({
    code: "require('logToConsole')('seen');\ndata.gtmOnSuccess();",
    permissions: [permission('logging', { environments: 'all' })],
  })
  const { container } = await start(t, { text })
  await container.fire({}, [])
  assert.equal(container.logs.length, 1)
})

const NONE = { requests: 0, answered: 0, accepted: 0, failed: 0, timedOut: 0, lost: 0, bodyBytes: 0 }
