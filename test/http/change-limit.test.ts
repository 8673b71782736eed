import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANGES_AT_ONCE, ChangeLimit, countedAs } from '../../src/http/access/change-limit.ts'
import { type Access, accessOf, type Grants, NO_GRANTS } from '../../src/http/index.ts'
import { MINUTE, newId, SECOND } from '../../src/lib/index.ts'
import { bearer } from '../../testkit/api.ts'
import { newClock } from '../../testkit/clock.ts'
import { memoryCredentials } from '../../testkit/credentials.ts'
import { ADMIN, KEYS, openApp, refused, thingRoutes } from './support.ts'

const [ONE, OTHER] = ['1', '2'].map((last) => `twk_${'x'.repeat(42)}${last}`)

test('an API token that changes too much waits, and no one else does', async (t) => {
  assert.ok(ONE !== undefined && OTHER !== undefined)
  const clock = newClock()
  const changeLimit = new ChangeLimit(clock)
  for (let n = 3; n < CHANGES_AT_ONCE; n++) changeLimit.take(ONE)
  const accessFor = (token: string): Access => ({ ...accessOf('admin'), role: 'token', holder: token })
  const app = await openApp(t, thingRoutes, {
    clock,
    changeLimit,
    access: KEYS,
    credentials: {
      ...memoryCredentials(clock),
      accessesOf: async (values) => new Map(values.map((value) => [value, accessFor(value)])),
    },
  })
  const send = async (token: string, method: 'GET' | 'POST' = 'POST') =>
    (await app.inject({ method, url: '/api/things', headers: bearer(token) })).statusCode
  const accepted = async () => {
    let count = 0
    while (count < 100 && (await send(ONE)) === 200) count++
    return count
  }
  assert.equal(await accepted(), 3)
  const { body, headers } = await refused(
    app,
    { method: 'POST', url: '/api/things', headers: bearer(ONE) },
    429,
    'rate_limited',
  )
  assert.equal(body.message, 'At most 6,000 changes at once, then 10 a second: wait 1 s')
  assert.equal(headers['retry-after'], '1')
  assert.deepEqual([await send(ONE, 'GET'), await send(OTHER), await send(ADMIN)], [200, 200, 200])
  clock.advance(SECOND)
  assert.equal(await accepted(), 10)
  clock.advance(10 * MINUTE)
  for (let n = 0; n < CHANGES_AT_ONCE; n++) changeLimit.take(ONE)
  assert.equal(await accepted(), 0)
})

test('tokens with the same roles for the same clients count together, as their owner can make any number, and people apart from them', async (t) => {
  const clock = newClock()
  const changeLimit = new ChangeLimit(clock)
  const [a, b] = [newId(), newId()]
  const grants: Grants[] = [
    { all: null, clients: new Map([...editorOf(a), ...editorOf(b)]) },
    { all: null, clients: new Map([...editorOf(b), ...editorOf(a)]) },
    { all: null, clients: new Map([...editorOf(a), [b, 'owner']]) },
    { all: null, clients: editorOf(a) },
    { all: 'editor', clients: editorOf(a) },
    { all: 'editor', clients: new Map() },
    { all: null, clients: new Map([...editorOf(a), ...editorOf(b)]) },
  ]
  const tokens = grants.map((_, index) => `twk_${'x'.repeat(42)}${index}`)
  const accesses = new Map(
    tokens.map((token, index): [string, Access] => [
      token,
      {
        ...accessOf('admin'),
        role: index === grants.length - 1 ? 'user' : 'token',
        holder: token,
        grants: grants[index] ?? NO_GRANTS,
      },
    ]),
  )
  const app = await openApp(t, thingRoutes, {
    clock,
    changeLimit,
    access: KEYS,
    credentials: { ...memoryCredentials(clock), accessesOf: async () => accesses },
  })
  const send = async (token: string) =>
    (await app.inject({ method: 'POST', url: '/api/things', headers: bearer(token) })).statusCode
  const [first] = accesses.values()
  assert.ok(first !== undefined)
  for (let n = 0; n < CHANGES_AT_ONCE; n++) changeLimit.take(countedAs(first) ?? '')
  assert.deepEqual(await Promise.all(tokens.map(send)), [429, 429, 200, 200, 200, 200, 200])
})

const editorOf = (id: string) => new Map([[id, 'editor' as const]])
