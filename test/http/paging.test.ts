import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HttpApp, pageOf } from '../../src/http/index.ts'
import { jsonInParts } from '../../src/http/lists.ts'
import { linkNextPage } from '../../src/http/schemas.ts'
import { openApp } from './support.ts'

const PAGES: [fetched: string[], limit: number, entries: string[], next: string | null][] = [
  [[], 2, [], null],
  [['c', 'b'], 2, ['c', 'b'], null],
  [['c', 'b', 'a'], 2, ['c', 'b'], 'b'],
]
for (const [fetched, limit, entries, next] of PAGES) {
  test(`${fetched.length} entries fetched for a page of ${limit} lead on to ${next}`, () => {
    assert.deepEqual(
      pageOf(fetched, limit, (entry) => entry),
      { entries, next },
    )
  })
}

const routes = (next: string | null) => (app: HttpApp) => {
  app.get('/api/list', { config: { scope: 'anyone' } }, async (request, reply) => {
    linkNextPage(request, reply, next)
    return []
  })
}

test('the next page keeps the other parameters', async (t) => {
  const app = await openApp(t, routes('7&8'))
  const { headers } = await app.inject('/api/list?site=a%20b&before=9')
  assert.equal(headers.link, '</api/list?site=a+b&before=7%268>; rel="next"')
})

test('the next page keeps what follows a question mark in a parameter', async (t) => {
  const app = await openApp(t, routes('7'))
  const { headers } = await app.inject('/api/list?actor=who?&site=a&before=9')
  assert.equal(headers.link, '</api/list?actor=who%3F&site=a&before=7>; rel="next"')
})

test('the last page has no next one', async (t) => {
  const app = await openApp(t, routes(null))
  assert.equal((await app.inject('/api/list')).headers.link, undefined)
})

test('a long list is read in parts of 500, without the records that were deleted meanwhile', async () => {
  const ids = Array.from({ length: 1_201 }, (_, index) => `id-${index}`)
  const lengths: number[] = []
  const json = await jsonInParts(ids, async (part) => {
    lengths.push(part.length)
    return part.filter((id) => id !== 'id-7').map((id) => ({ id }))
  })
  assert.deepEqual(lengths, [500, 500, 201])
  assert.deepEqual(
    JSON.parse(json),
    ids.filter((id) => id !== 'id-7').map((id) => ({ id })),
  )
})

test('a part whose records are all gone leaves no gap in the list', async () => {
  const ids = Array.from({ length: 1_001 }, (_, index) => String(index))
  const json = await jsonInParts(ids, async (part) => (part.length === 1 ? [{ id: '1000' }] : []))
  assert.deepEqual(JSON.parse(json), [{ id: '1000' }])
  assert.equal(await jsonInParts([], async () => []), '[]')
})
