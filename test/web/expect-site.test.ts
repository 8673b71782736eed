import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryClient } from '@tanstack/react-query'
import { expectSite } from '../../web/src/features/site/expect-site.ts'

const SITE = '7d444840-9dc0-41d1-b245-5ffdce74fad2'

/** What is asked for when the page of a site is opened with this in its address. */
function askedFor(search: Readonly<Record<string, string>>): string[] {
  const client = new QueryClient({ defaultOptions: { queries: { queryFn: () => null, retry: false } } })
  expectSite(client, SITE, search)
  const keys = client
    .getQueryCache()
    .getAll()
    .map(({ queryKey }) => JSON.stringify(queryKey.filter((part) => part !== SITE)))
  client.clear()
  return keys
}

test('the site, its report and its first chart are asked for at once', (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json({}))
  assert.deepEqual(askedFor({}), [
    '["site"]',
    '["reports","overview",{"hours":24}]',
    '["reports","timeseries",{"hours":24,"metric":"events","group_by":"event_name"}]',
  ])
})

test('the range of the address is that of what is asked for, and a tag or another tab shows no chart of all events', (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json({}))
  assert.match(askedFor({ range: '6h', compare: 'previous' })[1] ?? '', /"hours":6,"compare":"previous"/)
  for (const search of [{ tag: 'Meta CAPI' }, { event: 'purchase' }, { tab: 'tags' }]) {
    assert.equal(askedFor(search).length, 2)
  }
})
