import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { environmentManager, MutationObserver, QueryObserver } from '@tanstack/react-query'
import { startAnswering } from '../../testkit/listeners.ts'
import { timeseriesQuery } from '../../web/src/api/analytics.ts'
import { channelsQuery, refreshAfter } from '../../web/src/api/channels.ts'
import { ApiError, request, UnreachableError } from '../../web/src/api/client.ts'
import type { ClientRecord } from '../../web/src/api/clients.ts'
import { createQueryClient, refresh } from '../../web/src/api/query-client.ts'
import { settle } from '../../web/src/api/settle.ts'
import { reopenAfter, throttled } from '../../web/src/api/stream.ts'
import { clockTime } from '../../web/src/features/alerts/words.ts'
import { channelBody } from '../../web/src/features/clients/channel-values.ts'
import { planLimits } from '../../web/src/features/clients/client-values.ts'
import { noChannel, quotaWords } from '../../web/src/features/overview/banners.ts'
import { clock } from '../../web/src/features/site/words.ts'
import { moment } from '../../web/src/features/status/sentence.ts'
import { hoursInWords, phoneWords } from '../../web/src/features/tags/words.ts'
import { momentLine } from '../../web/src/features/today/words.ts'
import { changedSince } from '../../web/src/lib/changed.ts'
import { faultsOf } from '../../web/src/lib/form-faults.ts'
import { onset, onsetLine } from '../../web/src/lib/onset.ts'
import { withPaused } from '../../web/src/lib/paused-sites.ts'
import { directoryOf } from '../../web/src/lib/use-directory.ts'
import { compact, counted, duration, exact, percent, relative, unbroken } from '../../web/src/lib/words.ts'
import { momentOf, wallTime } from '../../web/src/lib/zone.ts'
import { momentLike, zoneHint } from '../../web/src/lib/zone-hint.ts'
import { parseSearch, stringifySearch } from '../../web/src/routes/search.ts'
import { bucketText } from '../../web/src/ui/chart/bucket-text.ts'
import { explain } from '../../web/src/ui/error-words.ts'
import { SERIES_COLORS, seriesTokens } from '../../web/src/ui/series-color.ts'
import { type Column, nextSort, sorted } from '../../web/src/ui/table/column.ts'
import { overviewOf, site } from './overviews.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const WORDS: readonly [said: string, expected: string][] = [
  [duration(42 * MINUTE), '42\u00a0min'],
  [duration(119 * MINUTE), '119\u00a0min'],
  [duration(2 * HOUR), '2\u00a0h'],
  [duration(49 * HOUR), '2\u00a0d'],
  [duration(9_400), '9\u00a0s'],
  [relative(0, 59_000), 'just now'],
  [relative(0, 3 * MINUTE), '3\u00a0min ago'],
  [relative(3 * HOUR, 0), 'in 3\u00a0h'],
  [exact(Date.parse('2026-11-20T08:42:10Z'), 'Europe/Berlin'), '20 Nov 2026, 09:42:10 CET'],
  [compact(12_400), '12.4k'],
  [compact(980), '980'],
  [percent(0.31), '31\u00a0%'],
  [percent(0.004), '0.4\u00a0%'],
  [percent(0), '0\u00a0%'],
  [percent(0.0004), '0.1\u00a0%'],
  [percent(0.9996), '99.9\u00a0%'],
  [percent(0.996), '99.6\u00a0%'],
  [percent(1), '100\u00a0%'],
  [percent(1.004), '100\u00a0%'],
  [counted(1, 'site'), '1 site'],
  [counted(1_200, 'site'), '1,200 sites'],
]
for (const [said, expected] of WORDS) test(`"${expected}"`, () => assert.equal(said, expected))

const HOURS = { runs: [0, 1], bad: [0, 1] }
const ONES: readonly [said: string, expected: string][] = [
  [phoneWords({ failure_rate: null, runs: 1, p95_ms: null }), '1 execution'],
  [phoneWords({ failure_rate: 1, runs: 1, p95_ms: null }), '100\u00a0% of 1 execution failed'],
  [hoursInWords(HOURS, () => '14:00'), 'failed most from 14:00: 100\u00a0% of 1 execution'],
  [
    planLimits({ plan: 'enterprise', requests_per_second: 1, events_per_month: 1 } as ClientRecord),
    '1 request a second, 1 event a month',
  ],
]
for (const [said, expected] of ONES) test(`of one: "${expected}"`, () => assert.equal(said, expected))

test('times make their formatters once a zone, as lists show hundreds of them every few seconds', (t) => {
  const make = t.mock.method(Intl, 'DateTimeFormat')
  const zone = 'Asia/Tokyo'
  const show = (at: number) => [
    exact(at, zone),
    clockTime(at, undefined, DAY),
    clockTime(at, zone, DAY),
    wallTime(at, zone),
    clock(at, DAY, zone),
    moment(at, DAY, zone),
    momentLine(at, zone),
    bucketText({ start: at, end: at + HOUR, isPartial: false }, zone),
  ]
  show(0)
  const made = make.mock.callCount()
  for (const at of [MINUTE, HOUR]) show(at)
  assert.equal(make.mock.callCount() - made, 0)
})

const UNBROKEN: readonly [text: string, shown: string][] = [
  ['failed: 76 of 130 (58 %), last 15 min', 'failed: 76 of 130 (58\u00a0%), last 15\u00a0min'],
  ['p95 is 840 ms, was 1.2 s for 2 h 10 min', 'p95 is 840\u00a0ms, was 1.2\u00a0s for 2\u00a0h 10\u00a0min'],
  ['3 sites, 2 shops, 4 days', '3 sites, 2 shops, 4 days'],
  ['“Top 10 %% off”', '“Top 10\u00a0%% off”'],
]
for (const [text, shown] of UNBROKEN) {
  test(`"${text}" keeps its units with their numbers`, () => assert.equal(unbroken(text), shown))
}

const MOMENTS: readonly [title: string, zone: string, wall: string, moment: string][] = [
  ['half hours', 'Asia/Kolkata', '2026-01-05T05:30', '2026-01-05T00:00:00.000Z'],
  ['winter', 'Europe/Berlin', '2026-01-05T10:00', '2026-01-05T09:00:00.000Z'],
  ['summer', 'Europe/Berlin', '2026-07-05T10:00', '2026-07-05T08:00:00.000Z'],
  ['the hour that comes twice: the first', 'Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ['the other side of the date line', 'Pacific/Auckland', '2026-01-01T00:00', '2025-12-31T11:00:00.000Z'],
]
for (const [title, zone, wall, moment] of MOMENTS) {
  test(`clocks of ${zone}, ${title}`, () => {
    assert.equal(new Date(momentOf(wall, zone) ?? 0).toISOString(), moment)
    assert.equal(wallTime(Date.parse(moment), zone), wall)
  })
}

test('an hour that a clock leaves out is taken as the one after', () => {
  assert.equal(new Date(momentOf('2026-03-29T02:30', 'Europe/Berlin') ?? 0).toISOString(), '2026-03-29T01:30:00.000Z')
})

test('a field of local time says what counts where the clocks change', () => {
  const berlin = 'Europe/Berlin'
  assert.equal(zoneHint('2026-10-25T01:59', berlin), berlin)
  assert.equal(zoneHint('2026-10-25T03:00', berlin), berlin)
  assert.equal(zoneHint('', berlin), berlin)
  assert.equal(zoneHint('2026-10-25T02:30', berlin), `${berlin} · 02:30 comes twice that day: the first counts`)
  const second = Date.parse('2026-10-25T01:30:00Z')
  assert.equal(
    zoneHint('2026-10-25T02:30', berlin, second),
    `${berlin} · 02:30 comes twice that day: the second counts`,
  )
  assert.equal(zoneHint('2026-03-29T02:30', berlin), `${berlin} · clocks skip 02:30 that day: 03:30 counts`)
  assert.equal(momentLike(second, '2026-10-25T02:30', berlin), second, 'what a button has filled in')
  assert.equal(momentLike(second, '2026-10-25T02:31', berlin), Date.parse('2026-10-25T00:31:00Z'), 'what was typed')
  const island = 'Australia/Lord_Howe'
  assert.equal(zoneHint('2026-04-05T01:45', island), `${island} · 01:45 comes twice that day: the first counts`)
})

test('what is no time is none', () => assert.equal(momentOf('', 'UTC'), null))

test('search parameters are text, there and back', () => {
  const search = { q: '123', filter: 'a&b=c', empty: '' }
  assert.deepEqual(parseSearch(stringifySearch(search)), search)
  assert.equal(stringifySearch({ gone: undefined }), '')
})

test('a series has its colour on every chart, and no two of one chart share one', () => {
  const names = ['page_view', 'view_item', 'add_to_cart', 'begin_checkout', 'purchase', 'sign_up', 'search', 'refund']
  const all = seriesTokens(names)
  assert.equal(new Set(all.values()).size, SERIES_COLORS)
  assert.deepEqual(seriesTokens(names.toReversed()), all)
  // Alone on a chart a name has the colour of its hash; with others it keeps it unless one before it has it.
  const kept = names.filter((name) => seriesTokens([name]).get(name) === all.get(name))
  assert.ok(kept.length >= 3, kept.join())
  assert.equal(seriesTokens(['(other)']).get('(other)'), '--series-other')
  assert.equal(seriesTokens(Array.from({ length: 20 }, (_, n) => `e${n}`)).size, 20)
})

const COLUMNS: Column<{ name: string; count: number | null }>[] = [
  { key: 'name', title: 'Name', sortBy: (row) => row.name, render: (row) => row.name },
  { key: 'count', title: 'Count', isNumber: true, sortBy: (row) => row.count, render: (row) => row.count },
]
const ROWS = [
  { name: 'tag 10', count: null },
  { name: 'Tag 2', count: 7 },
  { name: 'tag 1', count: 30 },
]
const SORTS: readonly [key: string, isDescending: boolean, names: string[]][] = [
  ['name', false, ['tag 1', 'Tag 2', 'tag 10']],
  ['name', true, ['tag 10', 'Tag 2', 'tag 1']],
  ['count', false, ['Tag 2', 'tag 1', 'tag 10']],
  ['count', true, ['tag 1', 'Tag 2', 'tag 10']],
]
for (const [key, isDescending, names] of SORTS) {
  test(`rows by ${key}, ${isDescending ? 'falling' : 'rising'}: numbers as numbers, nothing last`, () => {
    assert.deepEqual(
      sorted(ROWS, COLUMNS, { key, isDescending }).map(({ name }) => name),
      names,
    )
  })
}

test('a first click on a head sorts numbers falling and texts rising, a second turns it round', () => {
  const [name, count] = COLUMNS
  assert.ok(name !== undefined && count !== undefined)
  assert.deepEqual(nextSort(name, undefined), { key: 'name', isDescending: false })
  assert.deepEqual(nextSort(count, { key: 'name', isDescending: false }), { key: 'count', isDescending: true })
  assert.deepEqual(nextSort(count, { key: 'count', isDescending: true }), { key: 'count', isDescending: false })
})

const ONSETS: readonly [opened: string, began: string, detected: string | null][] = [
  ['2026-11-20T15:08:59.999Z', 'since 15:08', null],
  ['2026-11-20T15:09:00.000Z', 'started 15:08', 'detected 15:09'],
  ['2026-11-20T15:16:30.000Z', 'started 15:08', 'detected 15:16'],
]
for (const [opened_at, began, detected] of ONSETS) {
  test(`what began at 15:08 and was seen at ${opened_at.slice(11, 19)} is "${began}"`, () => {
    const alert = { started_at: '2026-11-20T15:08:00.000Z', opened_at }
    const clock = (at: number) => new Date(at).toISOString().slice(11, 16)
    assert.deepEqual(onset(alert, clock), { began, detected })
    assert.equal(onsetLine(alert, clock), detected === null ? null : `${began} · ${detected}`)
  })
}

test('a refused connection is tried again after a second at most, then ever later, and never more than a minute', () => {
  const most = Array.from({ length: 40 }, (_, refusals) => reopenAfter(refusals, 1))
  assert.deepEqual(
    most.slice(0, 8),
    [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
  )
  assert.ok(most.slice(8).every((wait) => wait === 60_000))
  assert.equal(reopenAfter(6, 0), 30_000)
})

test('five clients without a channel are named, of more how many, and only who may is asked to add one', () => {
  const clients = Array.from({ length: 7 }, (_, n) => ({ id: `${n}`, name: `Client ${n}` }))
  const { words, named, more } = noChannel(clients, true)
  assert.deepEqual([words, named.length, more], ['7 clients have no way to be notified: add a channel', 5, 2])
  assert.equal(noChannel(clients.slice(0, 1), false).words, '1 client has no way to be notified')
})

test('quotas: who is refused and who will be, rounded down, in two sentences', () => {
  const client = (name: string, events: number) => {
    const level = events < 1_000 ? ('warning' as const) : ('exceeded' as const)
    return { id: name, name, events, limit: 1_000, level }
  }
  assert.deepEqual(quotaWords([]), [])
  const [one] = quotaWords([client('near', 999)])
  assert.equal(one?.words, '1 client has nearly used up its events for this month')
  assert.deepEqual(one?.named, [{ id: 'near', name: 'near', used: '99\u00a0% of 1,000 events' }])
  const many = quotaWords([...'abcdefg'].map((name) => client(name, 1_000)).concat(client('x', 800), client('y', 800)))
  assert.deepEqual(
    many.map(({ words, more }) => [words, more]),
    [
      [
        '7 clients have used up their events for this month: nothing they send is counted until the month ends (UTC)',
        2,
      ],
      ['2 clients have nearly used up their events for this month', 0],
    ],
  )
})

test('code that cannot be loaded is no fault of the page, in the words of any browser', () => {
  const said = [
    'Failed to fetch dynamically imported module: https://tagwarden.example/static/SitePage.js',
    'error loading dynamically imported module: https://tagwarden.example/static/SitePage.js',
    'Importing a module script failed.',
    'Unable to preload CSS for /static/SitePage.css',
  ]
  for (const words of said) assert.equal(explain(new TypeError(words)).title, 'A part of this page could not be loaded')
  assert.equal(explain(new TypeError('x is not a function')).title, 'This page has a fault')
})

test('a value in the address that the service refuses is named without the marks of a JSON pointer', () => {
  const body = { error: 'invalid_request' as const, message: '/site_id must be a UUID', details: [] }
  const { advice } = explain(new ApiError(400, body, null))
  assert.equal(advice, 'The address of this page is not valid: site_id must be a UUID.')
})

test('a page that has to wait says once for how long', () => {
  const body = { error: 'rate_limited' as const, message: 'At most 60 silences a minute: wait 3 s', details: [] }
  assert.equal(explain(new ApiError(429, body, 3)).advice, 'At most 60 silences a minute: wait 3 s.')
})

test('who may not see a page is sent to an owner, as not everyone signs in with a key', () => {
  const body = { error: 'forbidden' as const, message: 'The audit log is for editors', details: [] }
  const { advice } = explain(new ApiError(403, body, null))
  assert.equal(advice, 'The audit log is for editors. Ask an owner for access.')
  const message = 'This account has no role yet: ask an owner for one'
  assert.equal(explain(new ApiError(403, { ...body, message }, null)).advice, `${message}.`)
})

test('the secret of a channel that is typed without its address is sent, to be refused and not lost', () => {
  const channel = { kind: 'webhook', name: 'Team', minimum_severity: 'warning', is_active: true } as const
  const values = {
    ...channel,
    address: ' ',
    secret: 'of-sixteen-signs',
    endpoint: '',
    warnings_after_minutes: '',
  } as const
  assert.deepEqual(channelBody(values, false), {
    name: 'Team',
    minimum_severity: 'warning',
    is_active: true,
    secret: 'of-sixteen-signs',
  })
})

test('what had no answer is asked for again until there is one, and what was refused is not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  environmentManager.setIsServer(() => false)
  t.after(() => environmentManager.setIsServer(() => true))
  const client = createQueryClient()
  const busy = new ApiError(503, { error: 'unavailable', message: '', details: [] }, null)
  const refusal = new ApiError(403, { error: 'forbidden', message: '', details: [] }, null)
  const answers: unknown[] = [busy, new UnreachableError('502'), 'clients']
  const asked: string[] = []
  const ask = (name: string, next: () => unknown) => {
    const queryFn = () => {
      asked.push(name)
      const answer = next()
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    }
    const observer = new QueryObserver(client, { queryKey: [name], queryFn, retry: false })
    t.after(observer.subscribe(() => undefined))
  }
  ask('clients', () => answers.shift())
  ask('people', () => refusal)
  for (let n = 0; n < 5; n++) {
    await new Promise(setImmediate)
    t.mock.timers.tick(10_000)
  }
  assert.deepEqual(asked, ['clients', 'people', 'clients', 'clients'])
  assert.equal(client.getQueryData(['clients']), 'clients')
})

test('what someone may no longer see is not shown any longer, and what could not be read stays', async (t) => {
  const client = createQueryClient()
  t.after(() => client.clear())
  const refused = (status: number, error: 'forbidden' | 'unavailable') =>
    new ApiError(status, { error, message: '', details: [] }, null)
  for (const [answer, shown] of [
    [refused(503, 'unavailable'), 'alerts'],
    [refused(403, 'forbidden'), undefined],
  ] as const) {
    client.setQueryData(['alerts'], 'alerts')
    const list = new QueryObserver(client, {
      queryKey: ['alerts'],
      queryFn: () => Promise.reject(answer),
      retry: false,
    })
    await list.refetch()
    assert.equal(list.getCurrentResult().data, shown)
    assert.equal(list.getCurrentResult().error, answer)
  }
})

test('how many messages wait at a channel is asked for whenever its page is opened', async (t) => {
  const client = createQueryClient()
  const of = (email_enabled: boolean) => ({ email_enabled, channels: [] })
  client.setQueryData(channelsQuery.queryKey, of(false))
  const page = new QueryObserver(client, { ...channelsQuery, queryFn: () => of(true) })
  t.after(page.subscribe(() => undefined))
  t.after(() => client.clear())
  await new Promise(setImmediate)
  assert.deepEqual(page.getCurrentResult().data, of(true))
})

test('a first load that a change overtakes is loaded again, once for all changes meanwhile', async (t) => {
  const client = createQueryClient()
  const asked: ((answer: string) => void)[] = []
  const queryKey = ['annotations', 'of this minute']
  const list = new QueryObserver(client, { queryKey, queryFn: () => new Promise<string>((give) => asked.push(give)) })
  t.after(list.subscribe(() => undefined))
  t.after(() => client.clear())
  const changes = [0, 1].map(() => client.invalidateQueries({ queryKey: ['annotations'] }))
  assert.equal(asked.length, 1, 'messages in quick succession do not keep it from arriving')
  asked[0]?.('before the change')
  await Promise.all(changes)
  assert.equal(list.getCurrentResult().data, 'before the change')
  assert.equal(asked.length, 2)
  asked[1]?.('after it')
  await new Promise(setImmediate)
  assert.equal(list.getCurrentResult().data, 'after it')
  assert.equal(asked.length, 2)
})

test('messages let a refetch that is running arrive, and ask once more after it', async (t) => {
  const client = createQueryClient()
  const asked: { give: (answer: string) => void; signal: AbortSignal }[] = []
  const load = ({ signal }: { signal: AbortSignal }) => new Promise<string>((give) => asked.push({ give, signal }))
  const queryKey = ['alerts', 'open']
  const list = new QueryObserver(client, { queryKey, queryFn: load, initialData: 'at first' })
  t.after(list.subscribe(() => undefined))
  t.after(() => client.clear())
  for (const _message of [1, 2, 3]) refresh(client, { queryKey: ['alerts'] })
  assert.equal(asked.length, 1)
  assert.equal(asked[0]?.signal.aborted, false)
  asked[0]?.give('meanwhile')
  await turn()
  assert.equal(list.getCurrentResult().data, 'meanwhile')
  assert.equal(asked.length, 2, 'what it answers may be older than the last message')
  asked[1]?.give('after the messages')
  await turn()
  assert.equal(list.getCurrentResult().data, 'after the messages')
  assert.equal(asked.length, 2)
})

test('the answer to a change is not replaced by that of a load which began before it', async (t) => {
  const client = createQueryClient()
  const answers: ((answer: string) => void)[] = []
  const queryKey = ['site', 'of the form']
  const load = () => new Promise<string>((answer) => answers.push(answer))
  const form = new QueryObserver(client, { queryKey, queryFn: load })
  t.after(form.subscribe(() => undefined))
  t.after(() => client.clear())
  for (const saved of ['saved during the first load', 'saved during another']) {
    if (answers.length > 0) void form.refetch()
    settle(client, queryKey, saved)
    answers.at(-1)?.('as it was before')
    await new Promise(setImmediate)
    assert.equal(form.getCurrentResult().data, saved)
  }
})

test('messages are read again soon while one is on its way, and not while one waits or its channel is off', () => {
  const now = Date.parse('2026-11-25T13:20:00Z')
  const after = (state: 'pending' | 'delivered', due: number) =>
    refreshAfter([{ state, not_before: new Date(now + due).toISOString() }], now)
  assert.equal(after('pending', -1_000), 2_000)
  for (const other of [after('pending', HOUR), after('pending', -MINUTE), after('delivered', -1_000)]) {
    assert.equal(other, 15_000)
  }
})

test('a change whose answer is lost says that it may have been done, and what is shown is asked for again', async (t) => {
  const url = await startAnswering(t, ({ socket }) => socket.destroy())
  const client = createQueryClient()
  let asked = 0
  const list = new QueryObserver(client, { queryKey: ['clients'], queryFn: () => ++asked })
  t.after(list.subscribe(() => undefined))
  t.after(() => client.clear())
  await list.refetch()
  const before = asked
  const create = new MutationObserver(client, { mutationFn: () => request(`${url}/clients`, { method: 'POST' }) })
  await assert.rejects(create.mutate(), { message: 'No answer. It may have been saved: check before you try again' })
  await assert.rejects(request(`${url}/clients`), { message: 'Tagwarden cannot be reached' })
  assert.equal(asked, before + 1)

  const keys: unknown[] = []
  const service = await startAnswering(t, ({ headers, socket }, response) => {
    keys.push(headers['idempotency-key'])
    if (keys.length === 1) socket.destroy()
    else response.writeHead(201, { 'content-type': 'application/json' }).end('{}')
  })
  const add = (name: string) => request(`${service}/clients`, { method: 'POST', body: { name } })
  await assert.rejects(add('A'))
  for (const name of ['B', 'A', 'A']) await add(name)
  const [lost, other, again, next] = keys
  assert.equal(again, lost, 'so that it is done once')
  assert.equal(new Set([lost, other, next]).size, 3, 'what is another, or was answered, is done')

  const proxy = await startAnswering(t, (_request, response) => response.writeHead(413).end('<h1>Too large</h1>'))
  await assert.rejects(request(`${proxy}/clients`, { method: 'POST' }), { message: 'Tagwarden cannot be reached' })
})

test('what is wrong with a field that a form does not show is said without the marks of a JSON pointer', () => {
  const details = [
    { path: '/name', message: 'must not be empty' },
    { path: '/config/hosts/0', message: 'must be a host' },
    { path: '', message: 'has too many fields' },
  ]
  const refusal = new ApiError(400, { error: 'invalid_request', message: '', details }, null)
  assert.deepEqual(faultsOf(refusal, ['name']), {
    fields: { name: 'must not be empty' },
    rest: 'config.hosts.0 must be a host; has too many fields',
  })
})

test('a form that a sign-in has covered says to try again, and not how programs send a key', () => {
  const ended = new ApiError(401, { error: 'unauthorized', message: 'A key is required', details: [] }, null)
  assert.deepEqual(faultsOf(ended, ['name']), { fields: {}, rest: 'Your session had ended: try again' })
})

test('a value that someone else has set meanwhile is replaced only when it is saved again', () => {
  const opened = { name: 'Shop', url: 'https://a.example', note: 'x', level: 1 }
  const body = { ...opened, name: 'Mine', url: 'https://same.example' }
  const now = { ...opened, name: 'Theirs', url: 'https://same.example', note: 'y' }
  assert.throws(
    () => changedSince(body, opened, now, '/config'),
    (error) => error instanceof ApiError && error.details.map(({ path }) => path).join() === '/config/name',
  )
  assert.deepEqual(changedSince(body, opened, now), { name: 'Mine', url: 'https://same.example' })
  assert.throws(() => changedSince(body, opened, { ...now, name: 'Theirs again' }), /Someone/)
})

test('what changes while all figures are refetched is refetched after them once, and a new connection does not wait', async () => {
  const begun: (() => void)[] = []
  const refresh = throttled(() => new Promise((resolve) => begun.push(resolve)))
  refresh.next()
  refresh.next()
  refresh.next()
  assert.equal(begun.length, 1)
  begun[0]?.()
  await turn()
  assert.equal(begun.length, 2)
  begun[1]?.()
  await turn()
  assert.equal(begun.length, 2)
  refresh.next()
  refresh.now()
  assert.equal(begun.length, 4)
  refresh.next()
  refresh.cancel()
  for (const end of begun) end()
  await turn()
  assert.equal(begun.length, 4)
})

test('names are collected again when one of them has changed, not when a site has sent something', () => {
  const [shop, other] = [site('shop', 'ok'), site('other', 'ok')]
  const before = directoryOf(overviewOf({ ACME: [shop], Nordwind: [other] }))
  assert.equal(before.sites.shop?.client_name, 'ACME')
  const sent = { ...shop, last_event_at: '2026-11-20T10:00:00.000Z' }
  assert.equal(directoryOf(overviewOf({ ACME: [sent], Nordwind: [other] })), before)
  const renamed = directoryOf(overviewOf({ ACME: [{ ...shop, name: 'Shop' }], Nordwind: [other] }))
  assert.equal(renamed.sites.shop?.name, 'Shop')
  assert.equal(renamed.sites.other, before.sites.other)
  const none = directoryOf(overviewOf({}))
  assert.deepEqual([none.sites, none.noSite], [{}, 'a paused site'])
})

test('sites that are paused, or whose client is, are added to the directory by names that say so', () => {
  const directory = directoryOf(overviewOf({ ACME: [site('shop', 'ok')] }))
  const known = directory.sites.shop ?? assert.fail('no site')
  const paused = { id: 'old', name: 'Old shop', timezone: 'Europe/Berlin', client_id: 'c2' }
  const { sites } = withPaused(directory, [known, paused], [{ id: 'c2', name: 'Nordwind' }])
  assert.equal(sites.shop, known)
  assert.deepEqual(sites.old, { ...paused, name: 'Old shop (paused)', client_name: 'Nordwind', probes: [] })
})

test('while the figures of a tag or an event load, those of another are not shown as its own', () => {
  type Of = { tag_key?: string; event_name?: string }
  const shown = (before: Of, now: Of): boolean => {
    const asked = (of: Of) => timeseriesQuery('shop', { range: '24h' }, { metric: 'executions', ...of })
    const kept = asked(now).placeholderData as (data: unknown, query: { queryKey: readonly unknown[] }) => unknown
    return kept('points', asked(before)) === 'points'
  }
  const [ga4, meta] = [{ tag_key: 'GA4' }, { tag_key: 'Meta' }]
  assert.deepEqual([shown(ga4, ga4), shown(ga4, meta), shown({}, meta)], [true, false, false])
  const [purchase, refund] = [
    { ...ga4, event_name: 'purchase' },
    { ...ga4, event_name: 'refund' },
  ]
  assert.deepEqual([shown(purchase, purchase), shown(purchase, refund), shown(ga4, refund)], [true, false, false])
})
