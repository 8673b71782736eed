import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Overview, SiteState, Status } from '../../src/dashboard/index.ts'
import { headlineOf, type ListOptions, listRows, verdict } from '../../web/src/features/overview/site-list.ts'
import { siteWaitsFor, unjudgedWords } from '../../web/src/ui/status/status.ts'
import { overviewOf, site } from './overviews.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const PLAIN: ListOptions = { filter: 'all', search: '', isUnfolded: false, now: NOW }

const linesOf = (overview: Overview, options: Partial<ListOptions> = {}) =>
  listRows(overview, { ...PLAIN, ...options }).map((row) => row.key)

test('the worst client comes first, in it the worst site, and names settle the rest', () => {
  const overview = overviewOf({
    calm: [site('b', 'ok'), site('a', 'ok')],
    loud: [site('l1', 'ok'), site('l2', 'warning', { open_alerts: 1 }), site('l3', 'critical'), site('l4', 'warning')],
    odd: [site('o', 'error')],
  })
  assert.deepEqual(linesOf(overview), ['loud', 'l3', 'l2', 'l4', 'l1', 'odd', 'o', 'calm', 'a', 'b'])
})

test('many healthy clients fold into one line, which opens', () => {
  const healthy = Object.fromEntries(['p', 'q', 'r', 's'].map((name) => [name, [site(`${name}1`, 'ok')]]))
  const overview = overviewOf({ ...healthy, bad: [site('bad1', 'critical'), site('bad2', 'ok')] })
  const rows = listRows(overview, PLAIN)
  assert.deepEqual(linesOf(overview), ['bad', 'bad1', 'bad2', 'fold'])
  assert.deepEqual(rows.at(-1), { kind: 'fold', key: 'fold', clientCount: 4, siteCount: 4 })
  assert.deepEqual(linesOf(overview, { isUnfolded: true }).slice(3), [
    'fold',
    'p',
    'p1',
    'q',
    'q1',
    'r',
    'r1',
    's',
    's1',
  ])
})

test('a client with an open alert is not healthy, whatever its status', () => {
  const healthy = Object.fromEntries(['p', 'q', 'r', 's'].map((name) => [name, [site(`${name}1`, 'ok')]]))
  const overview = overviewOf({ ...healthy, notified: [site('notified1', 'ok', { open_alerts: 1 })] })
  assert.deepEqual(linesOf(overview), ['notified', 'notified1', 'fold'])
})

const MIXED = overviewOf({
  Acme: [
    site('shop', 'warning'),
    site('blog', 'ok', { last_event_at: '2026-11-20T09:00:00.000Z' }),
    site('new', 'unknown', { last_event_at: null }),
  ],
  Nordwind: [site('store', 'ok', { url: 'https://www.nord.example' })],
  Empty: [],
})
const FILTERS: readonly [title: string, options: Partial<ListOptions>, lines: string[]][] = [
  ['all', {}, ['Acme', 'shop', 'blog', 'new', 'Nordwind', 'store', 'Empty']],
  ['broken', { filter: 'broken' }, ['Acme', 'shop']],
  ['silent for an hour or always', { filter: 'silent' }, ['Acme', 'blog', 'new']],
  ['by the name of a site', { search: ' SHOP ' }, ['Acme', 'shop']],
  ['by its address', { search: 'nord.' }, ['Nordwind', 'store']],
  ["by its client's name", { search: 'acm' }, ['Acme', 'shop', 'blog', 'new']],
  ['both', { filter: 'silent', search: 'blog' }, ['Acme', 'blog']],
  ['nothing', { search: 'no such' }, []],
]
for (const [title, options, lines] of FILTERS) {
  test(`the list shows ${title}`, () => assert.deepEqual(linesOf(MIXED, options), lines))
}

const probe = (
  status: Status,
  message: string | null,
  reason: 'no_data' | 'learning' | null = null,
): SiteState['probes'][number] => ({
  id: status,
  probe_type: 'http_health',
  name: 'Health',
  status,
  judged: status !== 'unknown',
  reason,
  message,
  response_time_ms: null,
  last_result_at: null,
})
const worst_alert: SiteState['worst_alert'] = {
  id: 'alert',
  severity: 'critical',
  state: 'open',
  title: 'It is down',
  started_at: '2026-11-20T09:18:00.000Z',
  opened_at: '2026-11-20T09:26:00.000Z',
}
const HEADLINES: readonly [title: string, site: SiteState, text: string][] = [
  ['its worst alert', site('shop', 'critical', { worst_alert }), 'It is down'],
  ['it also when the probe has recovered', site('shop', 'ok', { worst_alert }), 'It is down'],
  [
    'its worst probe',
    site('shop', 'critical', { probes: [probe('ok', 'x'), probe('critical', 'is down')] }),
    'Is down',
  ],
  ['a probe without words by its name', site('shop', 'warning', { probes: [probe('warning', null)] }), 'Health'],
  ['that all is fine', site('shop', 'ok', { probes: [probe('ok', 'x')] }), 'all fine'],
  ['that nothing looks at it', site('shop', 'unknown'), 'no probes yet'],
  [
    'that it is too early',
    site('shop', 'unknown', { probes: [probe('unknown', null)] }),
    'waiting for the first result',
  ],
  ['that it never sent anything', site('shop', 'unknown', { reason: 'no_data', last_event_at: null }), 'no data yet'],
  [
    'that it has gone quiet before it was known what is usual',
    site('shop', 'unknown', { reason: 'no_data', events_24h: 0 }),
    'no event in the last 24 hours',
  ],
  [
    'that events come, and nothing that its probes look for',
    site('shop', 'unknown', { reason: 'no_data', probes: [probe('unknown', 'No tag has run', 'no_data')] }),
    'nothing to judge yet',
  ],
  [
    'what it is learning',
    site('shop', 'unknown', {
      reason: 'learning',
      probes: [probe('ok', 'x'), probe('unknown', 'Learning: 5 of 24 hours, judging starts 29 Nov, 15:00', 'learning')],
    }),
    'learning: 5 of 24 hours, judging starts 29 Nov, 15:00',
  ],
]
for (const [title, shop, text] of HEADLINES) {
  test(`a site's line says ${title}`, () => assert.equal(headlineOf(shop).text, text))
}

test("the header of a site's page says what it waits for in the words of its line on the overview", () => {
  const waiting = HEADLINES.filter(([, { status }]) => status === 'unknown')
  assert.equal(waiting.length, 6)
  for (const [title, shop, text] of waiting) assert.equal(siteWaitsFor(shop), text, title)
})

test('beside a probe stands why it has judged nothing, with what was seen so far', () => {
  const message = 'Learning: 2 of 7 days, judging starts 29 Nov'
  assert.equal(unjudgedWords({ reason: 'learning' }, message), 'learning: 2 of 7 days')
  assert.equal(unjudgedWords({ reason: 'learning' }, 'too few events'), 'learning')
  assert.equal(unjudgedWords({ reason: 'learning' }), 'learning')
  assert.equal(unjudgedWords({ reason: 'no_data' }, 'No event yet'), 'no data yet')
  assert.equal(unjudgedWords({ reason: null }, message), undefined)
})

const VERDICTS: readonly [statuses: Status[], sentence: string][] = [
  [[], 'No site is watched'],
  [['ok', 'critical', 'warning'], '1 site is broken'],
  [['critical', 'critical'], '2 sites are broken'],
  [['error', 'warning'], '1 site cannot be checked'],
  [['warning', 'ok'], '1 site needs a look'],
  [['ok', 'ok'], 'All sites are fine'],
  [['ok', 'unknown'], '1 healthy · 1 not judged yet'],
  [['unknown'], '1 not judged yet'],
]
for (const [statuses, sentence] of VERDICTS) {
  test(`${statuses.join(', ') || 'nothing'}: "${sentence}"`, () => {
    assert.equal(verdict(overviewOf({ a: statuses.map((status, n) => site(String(n), status)) })), sentence)
  })
}

test('the headline says how many are healthy and how many never sent anything', () => {
  const waiting = (name: string) => site(name, 'unknown', { reason: 'no_data', last_event_at: null })
  const overview = overviewOf({ a: [site('x', 'ok'), site('y', 'ok')], b: [waiting('p'), waiting('q'), waiting('r')] })
  assert.equal(verdict(overview), '2 healthy · 3 waiting for a first event')
})

test('a client that waits for a first event does not fold away as one of the healthy', () => {
  const healthy = Object.fromEntries(['p', 'q', 'r', 's'].map((name) => [name, [site(`${name}1`, 'ok')]]))
  const overview = overviewOf({ ...healthy, new: [site('n1', 'ok'), site('n2', 'unknown', { last_event_at: null })] })
  assert.deepEqual(linesOf(overview), ['new', 'n1', 'n2', 'fold'])
})
