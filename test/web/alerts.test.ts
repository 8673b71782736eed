import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AlertDetail, AlertRecord } from '../../web/src/api/alerts.ts'
import type { TimeseriesAnswer } from '../../web/src/api/analytics.ts'
import { chartWindow, zoomedWindow } from '../../web/src/features/alerts/band-option.ts'
import { chartPlan, findingIn, judgedMinutes } from '../../web/src/features/alerts/chart-plan.ts'
import { countsOf, type Filter, filterLabels, inboxRows, verdict } from '../../web/src/features/alerts/inbox.ts'
import { channelHint, timelineOf } from '../../web/src/features/alerts/timeline.ts'
import { endWords, sentence, timesIn } from '../../web/src/features/alerts/words.ts'
import type { Directory } from '../../web/src/lib/use-directory.ts'
import { muteOf, mutesNow, silenceScopes, untilWords } from '../../web/src/ui/mute/mutes.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const iso = (at: number) => new Date(at).toISOString()

const alert = (id: string, over: Partial<AlertRecord> = {}): AlertRecord => ({
  id,
  client_id: 'acme',
  site_id: 'shop',
  probe_id: 'probe',
  probe_type: 'http_health',
  subject: 'target',
  subject_key: 'target',
  subject_label: null,
  severity: 'warning',
  state: 'open',
  title: `title of ${id}`,
  message: '',
  started_at: iso(NOW),
  opened_at: iso(NOW),
  last_seen_at: iso(NOW),
  acknowledged_at: null,
  acknowledged_by: null,
  resolved_at: null,
  resolution: null,
  occurrences: 1,
  suppressed_by: null,
  is_flapping: false,
  first_notified_at: null,
  incident_id: null,
  ...over,
})

const DIRECTORY: Directory = {
  clients: { acme: { id: 'acme', name: 'ACME' }, nord: { id: 'nord', name: 'Nordwind' } },
  sites: {},
  siteOfProbe: {},
  noSite: 'a paused site',
}

const ALERTS = [
  alert('over', { state: 'resolved', opened_at: iso(NOW - 5) }),
  alert('old', { opened_at: iso(NOW - 2 * HOUR) }),
  alert('taken', { state: 'acknowledged', opened_at: iso(NOW) }),
  alert('new', { opened_at: iso(NOW - HOUR), client_id: 'nord', severity: 'critical' }),
]

const LISTS: readonly [filter: Filter, text: string, keys: string[]][] = [
  ['all', '', ['open', 'new', 'old', 'acknowledged', 'taken', 'resolved', 'over']],
  ['open', '', ['open', 'new', 'old']],
  ['resolved', '', ['resolved', 'over']],
  ['all', 'NORDWIND title', ['open', 'new']],
  ['all', 'server health old', ['open', 'old']],
  ['acknowledged', 'nordwind', []],
]
for (const [filter, text, keys] of LISTS) {
  test(`the inbox shows ${keys.join(', ') || 'nothing'} for ${filter} and "${text}"`, () => {
    assert.deepEqual(
      inboxRows(ALERTS, DIRECTORY, { filter, text }).map(({ key }) => key),
      keys,
    )
  })
}

test('open alerts stand by severity, then the longest open first; resolved ones with the last resolved first', () => {
  const ago = (id: string, hours: number, over: Partial<AlertRecord> = {}) =>
    alert(id, { started_at: iso(NOW - hours * HOUR), ...over })
  const critical = { severity: 'critical' } as const
  const resolved = (hours: number) => ({ state: 'resolved', resolved_at: iso(NOW - hours * HOUR) }) as const
  const alerts = [
    ago('warning 1 h', 1),
    ago('critical 1 h', 1, critical),
    ago('began 2 h ago', 2, resolved(1.5)),
    ago('warning 5 h', 5),
    ago('critical 3 h', 3, critical),
    ago('lasted 8 h', 9, { ...resolved(1), ...critical }),
  ]
  assert.deepEqual(
    inboxRows(alerts, DIRECTORY, { filter: 'all', text: '' }).map(({ key }) => key),
    ['open', 'critical 3 h', 'critical 1 h', 'warning 5 h', 'warning 1 h', 'resolved', 'lasted 8 h', 'began 2 h ago'],
  )
})

const VERDICTS: readonly [alerts: readonly AlertRecord[], words: string][] = [
  [[], 'No alert is open'],
  [[alert('a', { state: 'acknowledged' })], 'No alert is open, 1 acknowledged'],
  [[alert('a')], '1 alert is open'],
  [[alert('a', { severity: 'critical' })], '1 alert is open, critical'],
  [ALERTS, '2 alerts are open, 1 of them critical'],
]
for (const [alerts, words] of VERDICTS) {
  test(`the inbox is headed "${words}"`, () => assert.equal(verdict(countsOf(alerts), 'alert'), words))
}

test('an inbox of which not all was read says that there are more', () =>
  assert.equal(verdict(countsOf([alert('a')], false), 'alert'), '1+ alerts are open'))

test('alerts that could not be read are not counted as none', () => {
  assert.deepEqual(
    [null, countsOf([alert('a')], false)].map((counts) => filterLabels(counts).map(({ label }) => label)),
    [
      ['All', 'Open –', 'Acknowledged –', 'Resolved'],
      ['All', 'Open 1+', 'Acknowledged 0+', 'Resolved'],
    ],
  )
})

const SENTENCES: readonly [text: string, shown: string][] = [
  ['nothing received for 30 min', 'Nothing received for 30\u00a0min'],
  ['shop.example answered 503', 'shop.example answered 503'],
  ['“Meta CAPI” failed', '“Meta CAPI” failed'],
  ['failed: 76 of 130 (58 %), last 15 min', 'failed: 76 of 130 (58\u00a0%), last 15\u00a0min'],
]
for (const [text, shown] of SENTENCES) {
  test(`"${text}" is shown as "${shown}"`, () => assert.equal(sentence(text), shown))
}

test('a message stands with the entry about it, and alone where there is none', () => {
  const entry = { actor: null, text: '' }
  const delivery = (id: string, delivered_at: string | null, created_at = iso(NOW - 10_000)) =>
    ({ id, delivered_at, created_at }) as AlertDetail['deliveries'][number]
  const lines = timelineOf({
    timeline: [
      { ...entry, at: iso(NOW), kind: 'opened' },
      { ...entry, at: iso(NOW), kind: 'notified' },
      { ...entry, at: iso(NOW), kind: 'notified' },
      { ...entry, at: iso(NOW + HOUR), kind: 'notified' },
    ],
    deliveries: [
      delivery('late', null, iso(NOW + 2 * HOUR)),
      delivery('second', iso(NOW + HOUR + 5)),
      delivery('chat', iso(NOW)),
      delivery('mail', iso(NOW)),
    ],
  })
  assert.deepEqual(
    lines.map(({ kind, deliveries }) => [kind, ...deliveries.map(({ id }) => id)]),
    [['opened'], ['notified', 'mail'], ['notified', 'chat'], ['notified', 'second'], ['sent', 'late']],
  )
})

test('an alert that notified no one leads to where a channel is added, or where one that is off is turned on', () => {
  assert.deepEqual(channelHint('No one to notify: add a channel'), {
    why: 'No one to notify:',
    way: 'add a channel',
    isOff: false,
  })
  assert.deepEqual(channelHint('No one to notify: every channel is switched off after a failure'), {
    why: 'No one to notify: all channels are switched off,',
    way: 'turn one on',
    isOff: true,
  })
})

test('the chart begins before it was bad, ends now or after the end, and has buckets that fit', () => {
  const short = chartWindow(NOW - 40 * MINUTE, null, NOW, 15)
  assert.deepEqual(short, { from: NOW - 3 * HOUR - 40 * MINUTE, to: NOW, bucket: '5m', bucketMinutes: 5 })
  const over = chartWindow(NOW - 10 * HOUR, NOW - 9 * HOUR, NOW, 15)
  assert.deepEqual([over.from, over.to], [NOW - 13 * HOUR, NOW - 6 * HOUR])
  // Three events in five minutes have no score worth drawing.
  assert.equal(chartWindow(NOW - HOUR, null, NOW, 60).bucket, '1h')
  assert.equal(chartWindow(NOW - 400 * HOUR, null, NOW, 15).bucket, '1d')
  const byDay = chartWindow(NOW - 60 * DAY, NOW - 59 * DAY, NOW, 24 * 60)
  assert.deepEqual(byDay, { from: NOW - 67 * DAY, to: NOW - 52 * DAY, bucket: '1d', bucketMinutes: 1_440 })
})

test('a zoom has buckets as fine as its length allows, and is never shorter than what it can show', () => {
  const month = chartWindow(NOW - 600 * HOUR, null, NOW, 15)
  const noon = { from: NOW - 100 * HOUR, to: NOW - 90 * HOUR }
  assert.deepEqual(zoomedWindow(month, noon, 15), { ...noon, bucket: '5m', bucketMinutes: 5 })
  assert.deepEqual(zoomedWindow(month, noon, 60), { ...noon, bucket: '1h', bucketMinutes: 60 })
  const click = { from: NOW - 100 * HOUR, to: NOW - 100 * HOUR + MINUTE }
  const short = zoomedWindow(month, click, 15)
  assert.ok(short.to - short.from >= 30 * MINUTE && short.from <= click.from && short.to >= click.to)
  const beyond = zoomedWindow(month, { from: month.from - HOUR, to: NOW + HOUR }, 15)
  assert.deepEqual([beyond.from, beyond.to, beyond.bucket], [month.from, month.to, '1d'])
})

const DETAILS = {
  findings: [
    {
      subject: { tag_key: 'Meta CAPI' },
      measured: 0.31,
      expected: 0.004,
      band: { low: null, high: 0.05 },
      evidence: { window_minutes: 15 },
    },
  ],
}

test('a share is drawn from failures and executions, with gaps where nothing ran', () => {
  const finding = findingIn(DETAILS)
  assert.ok(finding !== null)
  const plan = chartPlan('tag_failure_rate', finding, 5)
  assert.ok(plan !== null)
  assert.deepEqual(plan.band, { low: null, high: 0.05 })
  const answer = (values: number[]) =>
    ({ series: [{ key: '', points: values.map((value, n) => ({ t: String(n), value })) }] }) as TimeseriesAnswer
  const [series] = plan.draw([answer([3, 0, 0]), answer([10, 5, 0])])
  assert.deepEqual(
    series?.points.map(({ value }) => value),
    [0.3, 0, null],
  )
})

test('which events a tag was missing on is drawn by the hour, and long ago by whole days', () => {
  const finding = findingIn({
    findings: [{ ...DETAILS.findings[0], subject: { tag_key: 'GA4', event_name: 'purchase' } }],
  })
  assert.ok(finding !== null)
  assert.deepEqual(
    [7, 70].map((days) => judgedMinutes('tag_missing', finding, days * DAY)),
    [60, 1_440],
  )
  const plan = chartPlan('tag_missing', finding, 1_440)
  assert.match(plan?.title ?? '', /by the day$/)
  const answer = (from: string, to: string, values: number[]) =>
    ({
      from,
      to,
      series: [{ key: '', points: values.map((value, n) => ({ t: String(n), value })) }],
    }) as TimeseriesAnswer
  const [series] =
    plan?.draw([answer('midnight', 'midnight', [9, 8, 9]), answer('noon', 'midnight', [4, 10, 10])]) ?? []
  assert.deepEqual(
    series?.points.map(({ value }) => value),
    [0.8, 0.9],
    'a day of which half is compared is left out',
  )
})

test('what is usual for a window is drawn for the buckets of the chart', () => {
  const finding = findingIn({
    findings: [
      {
        ...DETAILS.findings[0],
        subject: {},
        expected: 120,
        band: { low: 60, high: 240 },
        evidence: { window_minutes: 60 },
      },
    ],
  })
  assert.ok(finding !== null)
  const plan = chartPlan('data_volume', finding, 5)
  assert.deepEqual([plan?.expected, plan?.band], [10, { low: 5, high: 20 }])
})

test('a probe that asks the target has no data to draw', () => {
  assert.equal(findingIn({ findings: [{ check: 'answer', status: 'critical' }], status: 503 }), null)
  assert.equal(findingIn({}), null)
})

test('an alert whose tag is no longer seen does not say that it recovered', () => {
  const ended = (resolution: AlertRecord['resolution']) =>
    endWords(alert('a', { state: 'resolved', started_at: iso(NOW - 3 * HOUR), resolved_at: iso(NOW), resolution }))
  assert.deepEqual(
    [ended('recovered'), ended('gone')],
    ['recovered automatically after 3\u00a0h', 'no longer seen, after 3\u00a0h'],
  )
})

test('of several things that keep an alert mute the one that lasts longest is named', () => {
  const scope = { client_id: null, site_id: null, probe_id: null }
  const silence = (id: string, state: 'active' | 'ended', hours: number, over: object) => ({
    ...scope,
    incident_id: null,
    subject_key: null,
    subject_label: null,
    until_resolved: false,
    id,
    state,
    starts_at: iso(NOW),
    ends_at: iso(NOW + hours * HOUR),
    comment: null,
    created_at: iso(NOW),
    created_by: 'admin',
    ...over,
  })
  const mutes = mutesNow(
    [
      silence('probe', 'active', 1, { probe_id: 'probe' }),
      silence('tag', 'active', 2, { probe_id: 'tags', subject_key: 'tag:"Meta"' }),
      silence('client', 'active', 4, { client_id: 'acme' }),
      silence('ended', 'ended', 9, { site_id: 'shop' }),
    ],
    [],
  )
  assert.equal(muteOf(mutes, alert('a'))?.id, 'client')
  assert.equal(muteOf(mutes, alert('a', { client_id: 'nord' }))?.id, 'probe')
  assert.equal(muteOf(mutes, alert('a', { client_id: 'nord', probe_id: 'other' })), null)
  const ofTag = (tag: string) => alert('a', { client_id: 'nord', probe_id: 'tags', subject_key: `tag:"${tag}"` })
  assert.deepEqual([muteOf(mutes, ofTag('Meta'))?.id, muteOf(mutes, ofTag('GA4'))], ['tag', null])
})

const PLACE = { client_id: 'acme', site_id: 'shop', probe_id: 'probe' }
const OFFERS: readonly [key: string, label: string | null, offered: string[]][] = [
  ['target', null, ['This check', 'The whole site']],
  ['tag:"Meta CAPI"', 'Meta CAPI', ['This tag: Meta CAPI', 'All of this check', 'The whole site']],
  ['event:"a, \\"b\\""', 'a, "b"', ['This event: a, "b"', 'All of this check', 'The whole site']],
  ['tag:"A",event:"b"', 'A · b', ['Only A · b', 'All of this check', 'The whole site']],
  ['sha256:00', 'Very long', ['Only Very long', 'All of this check', 'The whole site']],
]
for (const [subject_key, subject_label, offered] of OFFERS) {
  test(`an alert about ${subject_key} can be silenced as ${offered.join(', ')}`, () => {
    const scopes = silenceScopes({ ...PLACE, subject_key, subject_label })
    assert.deepEqual(
      scopes.map(({ label }) => label),
      offered,
    )
    const none = { client_id: null, site_id: null, probe_id: null }
    const wide = [
      { ...none, probe_id: 'probe' },
      { ...none, site_id: 'shop' },
    ]
    const own = subject_label === null ? [] : [{ ...none, probe_id: 'probe', subject_key }]
    assert.deepEqual(
      scopes.map(({ scope }) => scope),
      [...own, ...wide],
    )
  })
}

test('times in the words of a timeline are those of the page', () => {
  const clock = (at: number) => new Date(at).toISOString().slice(11, 16)
  assert.equal(
    timesIn('Silenced from 2026-11-20T16:00:00.000Z until 2026-11-20T17:30:00Z: moving', clock),
    'Silenced from 16:00 until 17:30: moving',
  )
  assert.equal(timesIn('Silenced until it is resolved', clock), 'Silenced until it is resolved')
})

test('a silence until an alert is resolved says so, and not the year after which it ends at the latest', () => {
  const clock = () => '16:00'
  const mute = { kind: 'silence', id: 's', until: iso(NOW), why: null } as const
  assert.equal(untilWords({ ...mute, untilResolved: true }, clock), 'until resolved')
  assert.equal(untilWords({ ...mute, untilResolved: false }, clock), 'until 16:00')
})
