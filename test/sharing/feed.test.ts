import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atomFeed } from '../../src/sharing/feed.ts'
import type { PastIncident } from '../../src/sharing/history.ts'

const LINKS = {
  page: 'https://watch.example/status/T',
  self: 'https://watch.example/api/status/T/feed.atom',
}
const incident = (over: Partial<PastIncident> = {}): PastIncident => ({
  id: '00000000-0000-7000-8000-000000000001',
  site: 'shop',
  timezone: 'Europe/Berlin',
  title: 'It is down',
  severity: 'critical',
  started_at: '2026-11-20T09:00:00.000Z',
  opened_at: '2026-11-20T09:05:00.000Z',
  resolved_at: null,
  back_at: null,
  ...over,
})

test('a feed names incidents in the time of their sites, links to their pages and itself, and changes when one ends', () => {
  const open = atomFeed('Acme', 'urn:x', [incident()], LINKS, 0)
  assert.match(open, /<title type="text">shop: It is down<\/title>/)
  assert.match(open, /href="https:\/\/watch\.example\/status\/T\/incidents\/00000000-0000-7000-8000-000000000001"/)
  assert.match(
    open,
    /<link rel="self" type="application\/atom\+xml" href="https:\/\/watch\.example\/api\/status\/T\/feed\.atom"\/>/,
  )
  assert.match(open, /<updated>2026-11-20T09:05:00\.000Z<\/updated>/)
  // A reader that has seen its end sees that it has changed again.
  const back = atomFeed('Acme', 'urn:x', [incident({ back_at: '2026-11-20T11:00:00.000Z' })], null, 0)
  assert.equal(back.match(/<updated>2026-11-20T11:00:00\.000Z<\/updated>/g)?.length, 2)
  assert.match(back, />critical since Fri 20 Nov 2026, 10:00 CET, open again since 12:00 CET</)
  const over = atomFeed('Acme', 'urn:x', [incident({ resolved_at: '2026-11-20T10:00:00.000Z' })], null, 0)
  assert.match(over, /<title type="text">Resolved: shop: It is down<\/title>/)
  assert.match(over, />Resolved: critical Fri 20 Nov 2026, 10:00 – 11:00 CET<\/summary>/)
  assert.equal(over.match(/<updated>2026-11-20T10:00:00\.000Z<\/updated>/g)?.length, 2)
  assert.doesNotMatch(over, /<link/)
})

test('hostile names are text in the feed, whatever they look like', () => {
  const names = [
    '</title><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
    ']]><!DOCTYPE x [<!ENTITY a "b">]>&a;',
    '"\' onload="x',
    '\u0000\u0008\ud800\uffff',
    '&amp;&#0;',
  ]
  for (const name of names) {
    const feed = atomFeed(name, 'urn:x', [incident({ site: name, title: name })], LINKS, 0)
    const markup = feed.replaceAll(/&#\d+;/g, '')
    // Nothing but our own elements, each closed.
    const elements = [...markup.matchAll(/<\/?([^\s/>]+)/g)].map(([, element = '']) => element)
    const ours = ['?xml', 'feed', 'title', 'id', 'updated', 'author', 'name', 'link', 'entry', 'published', 'summary']
    assert.deepEqual(
      elements.filter((element) => !ours.includes(element)),
      [],
    )
    assert.equal(elements.length, 28)
    assert.doesNotMatch(markup, /[&\p{Cs}\p{Cn}]|\p{Cc}(?<!\n)/u)
  }
})
