import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AlertRecord } from '../../web/src/api/alerts.ts'
import type { IncidentDetail, IncidentSummary } from '../../web/src/api/incidents.ts'
import type { Filter } from '../../web/src/features/alerts/inbox.ts'
import { impactSentence } from '../../web/src/features/incidents/impact.ts'
import { matrixOf } from '../../web/src/features/incidents/matrix.ts'
import { incidentLines, postMortem } from '../../web/src/features/incidents/post-mortem.ts'
import { chartedAlerts, incidentNodes, incidentRows, incidentScopes } from '../../web/src/features/incidents/rows.ts'
import { whereWords } from '../../web/src/features/incidents/words.ts'
import { sharedLines } from '../../web/src/features/status/incident-lines.ts'
import type { Directory } from '../../web/src/lib/use-directory.ts'

const NOW = Date.parse('2026-11-25T13:20:00Z')
const MINUTE = 60_000
const ago = (minutes: number) => new Date(NOW - minutes * MINUTE).toISOString()

const alert = (id: string, over: Partial<AlertRecord> = {}): AlertRecord => ({
  id,
  client_id: 'acme',
  site_id: 'shop',
  probe_id: `probe of ${id}`,
  probe_type: 'tag_failure_rate',
  subject: 'target',
  subject_key: `tag:"${id}"`,
  subject_label: id,
  severity: 'critical',
  state: 'open',
  title: `“${id}” failed`,
  message: '',
  started_at: ago(40),
  opened_at: ago(35),
  last_seen_at: ago(0),
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

const incident = (id: string, over: Partial<IncidentSummary> = {}): IncidentSummary => ({
  id,
  scope: 'site',
  client_id: 'acme',
  site_id: 'shop',
  cause: 'tag',
  vendor: null,
  title: `title of ${id}`,
  severity: 'warning',
  state: 'open',
  started_at: ago(40),
  opened_at: ago(35),
  announced_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
  resolved_at: null,
  lead_alert_id: null,
  parent_id: null,
  impact: null,
  alert_count: 1,
  site_count: 1,
  ...over,
})

const site = (id: string, name: string) => ({
  id,
  name,
  timezone: 'Europe/Berlin',
  client_id: 'acme',
  client_name: 'ACME',
  probes: [],
})
const DIRECTORY: Directory = {
  clients: { acme: { id: 'acme', name: 'ACME' } },
  sites: { shop: site('shop', 'Shop'), blog: site('blog', 'Blog') },
  siteOfProbe: {},
  noSite: 'a paused site',
}

const VENDOR = { scope: 'vendor', client_id: null, site_id: null, vendor: 'Meta', site_count: 2 } as const
const INCIDENTS = [
  incident('meta', VENDOR),
  incident('part', { parent_id: 'meta' }),
  incident('other part', { parent_id: 'meta', site_id: 'blog' }),
  incident('worse', { severity: 'critical', cause: 'server', started_at: ago(5) }),
  incident('taken', { state: 'acknowledged' }),
  incident('over', { state: 'resolved' }),
  incident('of one that is not known', { parent_id: 'elsewhere', started_at: ago(60) }),
]
const ALERTS = [alert('Pixel', { incident_id: 'part' }), alert('loose')]

const LISTS: readonly [filter: Filter, text: string, keys: string[]][] = [
  ['all', '', ['open', 'worse', 'of one that is not known', 'meta', 'acknowledged', 'taken', 'resolved', 'over']],
  ['acknowledged', '', ['acknowledged', 'taken']],
  ['all', 'tag SERVER', ['open', 'worse']],
  ['all', 'blog', ['open', 'meta']],
  ['all', 'pixel failed', ['open', 'meta']],
  ['resolved', 'pixel', []],
]
for (const [filter, text, keys] of LISTS) {
  test(`the inbox of incidents shows ${keys.join(', ') || 'nothing'} for ${filter} and "${text}"`, () => {
    const rows = incidentRows(incidentNodes(INCIDENTS, ALERTS), DIRECTORY, { filter, text })
    assert.deepEqual(
      rows.map(({ key }) => key),
      keys,
    )
  })
}

test('what a vendor explains stands within its incident, with the alerts of all', () => {
  const [meta] = incidentNodes(INCIDENTS, ALERTS)
  assert.deepEqual(
    [meta?.parts.map(({ id }) => id), meta?.alerts.map(({ id }) => id)],
    [['part', 'other part'], ['Pixel']],
  )
})

const PLACES: readonly [words: string | null, of: IncidentSummary, parts: IncidentSummary[]][] = [
  ['Shop · ACME', incident('a'), []],
  ['a paused site', incident('a', { site_id: 'gone' }), []],
  [null, incident('a', VENDOR), []],
  ['deleted sites', incident('a', { ...VENDOR, site_count: 0 }), []],
  ['2 sites: Shop, Blog', incident('a', VENDOR), [incident('b'), incident('c', { site_id: 'blog' })]],
  ['5 sites: Shop …', incident('a', { ...VENDOR, site_count: 5 }), [incident('b'), incident('c')]],
]
for (const [words, of, parts] of PLACES) {
  test(`an incident is at ${words ?? 'what its title says'}`, () =>
    assert.equal(whereWords(of, parts, DIRECTORY), words))
}

test('an incident is silenced as such, or by the sites of its lasting alerts', () => {
  const alerts = [
    alert('Pixel'),
    alert('again', { probe_id: 'probe of Pixel', subject_key: 'tag:"Pixel"' }),
    alert('over', { state: 'resolved' }),
    alert('health', { site_id: 'blog', subject_key: 'target', subject_label: null }),
  ]
  const none = { client_id: null, site_id: null, probe_id: null }
  assert.deepEqual(incidentScopes('one', alerts, 'incident'), [{ ...none, incident_id: 'one' }])
  assert.deepEqual(incidentScopes('one', alerts, 'sites'), [
    { ...none, site_id: 'shop' },
    { ...none, site_id: 'blog' },
  ])
})

const clientOf = (id: string) => DIRECTORY.sites[id]?.client_name

const affected = (alerts: readonly AlertRecord[]): IncidentDetail['affected'] =>
  alerts.map(({ id, client_id, site_id, subject_label, started_at, resolved_at }) => ({
    alert_id: id,
    client_id,
    site_id,
    site_name: DIRECTORY.sites[site_id]?.name ?? '',
    subject_label,
    tag: null,
    events: [],
    vendor: null,
    started_at,
    resolved_at,
  }))

test('the matrix has the longer of sites and tags down the page, the earliest first', () => {
  const later = alert('later', { subject_label: 'Pixel', site_id: 'blog', started_at: ago(30) })
  const first = alert('first', { subject_label: 'Pixel', started_at: ago(50) })
  const bySite = matrixOf({ alerts: [later, first], affected: affected([later, first]) }, clientOf)
  assert.deepEqual(
    [bySite.corner, bySite.columns, bySite.rows.map(({ name }) => name)],
    ['Site', ['Pixel'], ['Shop', 'Blog']],
  )
  assert.deepEqual(
    bySite.rows[1]?.cells.flat().map(({ alertId }) => alertId),
    ['later'],
  )

  const health = alert('health', { subject_label: null, probe_type: 'http_health', started_at: ago(60) })
  const byWhat = matrixOf({ alerts: [first, health], affected: affected([first, health]) }, clientOf)
  assert.deepEqual(
    [byWhat.corner, byWhat.columns, byWhat.rows.map(({ name }) => name)],
    ['What', ['Shop'], ['Tag server health', 'Pixel']],
  )
  const crossed = [later, first, { ...health, site_id: 'shop' }, alert('on both', { subject_label: null })]
  assert.deepEqual(
    matrixOf({ alerts: crossed, affected: affected(crossed) }, clientOf).rows.map(({ cells }) =>
      cells.map((cell) => cell.length),
    ),
    [
      [1, 0],
      [1, 1],
      [1, 0],
    ],
  )
})

test('sites of two clients with the same name have a row each in the matrix', () => {
  const alerts = [alert('first', { started_at: ago(50) }), alert('second', { site_id: 'blog' })]
  const { rows } = matrixOf(
    { alerts, affected: affected(alerts).map((one) => ({ ...one, site_name: 'Shop' })) },
    (id) => ({ shop: 'ACME', blog: 'Nordwind' })[id],
  )
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Shop, ACME', 'Shop, Nordwind'],
  )
})

test('sites of one client with the same name have a row each in the matrix', () => {
  const alerts = [alert('first', { started_at: ago(50) }), alert('second', { site_id: 'blog' })]
  const affects = affected(alerts).map((one) => ({ ...one, site_name: 'Shop' }))
  const { rows } = matrixOf({ alerts, affected: affects }, () => 'ACME')
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Shop, ACME (2)', 'Shop, ACME (1)'],
  )
})

test('the charts begin with what explains the others, and show each check once', () => {
  const alerts = [
    alert('early', { started_at: ago(60) }),
    alert('lead'),
    alert('flapped', { probe_id: 'one', subject_key: 'x', started_at: ago(50) }),
    alert('flapped again', { probe_id: 'one', subject_key: 'x', started_at: ago(20) }),
  ]
  assert.deepEqual(
    chartedAlerts({ alerts, lead_alert_id: 'lead' }).map(({ id }) => id),
    ['lead', 'early', 'flapped again'],
  )
})

const detail = (over: Partial<IncidentDetail> = {}): IncidentDetail => {
  const alerts = over.alerts ?? [alert('Pixel')]
  return {
    ...incident('a'),
    likely_cause: null,
    likely_cause_kind: null,
    change_at: null,
    evidence: [],
    change: null,
    timeline: [],
    down_ms: 0,
    timeline_left_out: 0,
    parts: [],
    notes: [],
    deliveries: [],
    ...over,
    alerts,
    affected: affected(alerts),
  }
}
const opened = { at: ago(35), kind: 'opened', actor: null, text: '“Pixel” failed' } as const

test('the story begins with the first sign, unless that was seen at once', () => {
  const kinds = (over: Partial<IncidentDetail>) =>
    incidentLines(detail({ timeline: [opened], ...over })).map(({ kind, text }) => `${kind}: ${text}`)
  assert.deepEqual(kinds({}), ['first_sign: “Pixel” failed', 'opened: “Pixel” failed'])
  assert.deepEqual(kinds({ started_at: ago(35) }), ['opened: “Pixel” failed'])
})

test('that it went to the next on call is not that it became critical', () => {
  const text = 'Not acknowledged for 15 min: passed on to Grace'
  const story = postMortem(
    detail({ timeline: [opened, { ...opened, at: ago(20), kind: 'next_on_call', text }] }),
    'Europe/Berlin',
    NOW,
  )
  assert.match(story, /Next on call: Not acknowledged for 15 min: passed on to Grace/)
})

test('people without a key read what happened, and the first sign', () => {
  const timeline = [
    { ...opened, text: null },
    { at: ago(20), kind: 'acknowledged' as const, text: null },
  ]
  assert.deepEqual(
    sharedLines({ started_at: ago(40), opened_at: ago(35), timeline }).map(({ head }) => head),
    ['first sign', 'detected', 'someone is on it'],
  )
})

const IMPACT: NonNullable<IncidentDetail['impact']> = {
  summary: 'about 1,267 of 2,425 purchases (52 %)',
  from: ago(40),
  to: ago(10),
  final: true,
  sites: 1,
  events: { lost: 12_670, of: 24_250, low: 12_000, high: 13_000 },
  key_events: [{ event_name: 'purchase', lost: 1_267, of: 2_425, low: 1_200, high: 1_300 }],
  executions: { lost: 7, of: 10, low: 7, high: 7 },
  key_executions: [{ event_name: 'purchase', lost: 0, of: 0, low: 0, high: 0 }],
  share: 0.52,
  estimate: 'counted by events that were usual then',
  value: null,
}

test('what is lost so far is shown while it lasts, and nothing where no loss is certain', () => {
  assert.equal(impactSentence({ ...IMPACT, final: false }), 'Lost so far: about 1,267 of 2,425 purchases (52\u00a0%)')
  assert.equal(impactSentence({ ...IMPACT, summary: null }), null)
  assert.equal(impactSentence(null), null)
})

const POST_MORTEMS: readonly [what: string, of: IncidentDetail, text: string][] = [
  [
    'one that lasts',
    detail({ title: 'it is down', timeline: [opened] }),
    `# It is down

- Began: 25 Nov 2026, 13:40, detected 5 min later
- Resolved: not yet, open for 40 min
- Severity: warning
- Cause: tag
- Acknowledged: no
- Times: Europe/Berlin

## What was affected

| Site | What | Found | Began | Ended |
| --- | --- | --- | --- | --- |
| Shop | Pixel | “Pixel” failed | 25 Nov 2026, 13:40 | not yet |

## Timeline

- 25 Nov 2026, 13:40 – First sign: “Pixel” failed
- 25 Nov 2026, 13:45 – Opened: “Pixel” failed

## What caused it

_To be written._

## What is done so that it does not happen again

- [ ] _To be written._
`,
  ],
  [
    'one that is over, with names that would be Markdown',
    detail({
      title: 'Meta tags fail on 2 of 3 sites',
      vendor: 'Meta',
      started_at: ago(40),
      opened_at: ago(40),
      state: 'resolved',
      acknowledged_at: ago(30),
      acknowledged_by: '*Priya*',
      resolved_at: ago(10),
      evidence: ['web container 41 → 42 was published 12 min before it began', 'both began together'],
      impact: IMPACT,
      alerts: [alert('a|b', { title: '<b>x</b>\n# y', started_at: ago(40), resolved_at: ago(10), state: 'resolved' })],
      timeline: [
        { at: ago(30), kind: 'acknowledged', actor: '*Priya*', text: 'on it' },
        { at: ago(20), kind: 'noted', actor: 'Tom', text: '[x](javascript:y)' },
        { at: ago(10), kind: 'resolved', actor: null, text: '' },
      ],
      notes: [{ id: 'n', at: ago(20), by: 'Tom', text: '[x](javascript:y)' }],
    }),
    `# Meta tags fail on 2 of 3 sites

- Began: 25 Nov 2026, 13:40, detected 0 s later
- Resolved: 25 Nov 2026, 14:10, after 30 min
- Severity: warning
- Cause: tag, Meta
- Acknowledged: 25 Nov 2026, 13:50, by \\*Priya\\*
- Times: Europe/Berlin

## What was affected

| Site | What | Found | Began | Ended |
| --- | --- | --- | --- | --- |
| Shop | a\\|b | \\<b\\>x\\</b\\> \\# y | 25 Nov 2026, 13:40 | 25 Nov 2026, 14:10 |

## What it cost

- Lost: about 1,267 of 2,425 purchases (52 %)
- Events that did not come: about 12,670 of 24,250 (52 %), between 12,000 and 13,000
- of them purchase: about 1,267 of 2,425 (52 %), between 1,200 and 1,300
- Tag executions that failed or did not happen: 7 of 10 (70 %)
- of them on purchase: 0 of 0
- Counted by events that were usual then

## Evidence

- Web container 41 → 42 was published 12 min before it began
- Both began together

## Timeline

- 25 Nov 2026, 13:50 – Acknowledged by \\*Priya\\*: On it
- 25 Nov 2026, 14:00 – Note by Tom: \\[x\\](javascript:y)
- 25 Nov 2026, 14:10 – Resolved

## Notes

- 25 Nov 2026, 14:00, Tom: \\[x\\](javascript:y)

## What caused it

_To be written._

## What is done so that it does not happen again

- [ ] _To be written._
`,
  ],
]
for (const [what, of, text] of POST_MORTEMS) {
  test(`the post-mortem of ${what} says what is known`, () => assert.equal(postMortem(of, 'Europe/Berlin', NOW), text))
}
