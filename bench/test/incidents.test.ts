import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import { asSeen } from '../alerts/incidents/as-seen.ts'
import { type Agency, type Cause, faultsMet, randomAgency } from '../alerts/incidents/causes.ts'
import type { Run } from '../alerts/incidents/data-runs.ts'
import { measure } from '../alerts/incidents/measure.ts'
import { follow } from '../alerts/incidents/pipeline.ts'
import { culpritOf, type Shown } from '../alerts/incidents/truth.ts'
import { withStore, worldOf } from '../alerts/incidents/world-store.ts'
import type { Fault } from '../detection/faults.ts'
import { FIRST_JUDGED, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../detection/world.ts'

const SITES = 4
const DOWN = FIRST_JUDGED + SLOTS_A_DAY
const VENDOR = DOWN + SLOTS_A_DAY
const AWAY = VENDOR + SLOTS_A_DAY

const causeOf = (kind: Cause['kind'], from: number, hours: number, faults: Cause['faults']): Cause => ({
  id: kind,
  kind,
  from,
  to: from + hours * SLOTS_AN_HOUR,
  faults,
  server: kind === 'server' ? 'down' : null,
})
const failing = { kind: 'tag_failing', from: VENDOR, to: VENDOR + 2 * SLOTS_AN_HOUR, size: 1, tag: 'Meta' } as const
const silent = { kind: 'silent_sender', from: DOWN, to: DOWN + 2 * SLOTS_AN_HOUR, size: 0 } as const
const CAUSES = [
  causeOf('server', DOWN, 2, new Map([[0, [silent]]])),
  causeOf('vendor', VENDOR, 2, new Map(Array.from({ length: SITES }, (_, place) => [place, [failing]]))),
  causeOf('connection', AWAY, 0.5, new Map()),
]

/** Runs of a probe that are bad while a cause lasts, and good before and after. */
function runsOf(probe: string, { from, to }: Pick<Cause, 'from' | 'to'>, subject: Record<string, string>): Run[] {
  const details = { findings: [{ subject }] }
  const fine: ProbeOutcome = { status: 'ok', message: 'fine', details: {}, findings: [], fine: [subject] }
  const finding = { subject, status: 'critical', message: `${probe} is bad`, startedAt: null, details } as const
  const bad: ProbeOutcome = { ...fine, status: 'critical', message: 'bad', findings: [finding], fine: [] }
  return Array.from({ length: 60 }, (_, index) => from - 50 + 5 * index).map((slot) => ({
    probe,
    slot,
    outcome: slot > from && slot <= to ? bad : fine,
  }))
}

const agency: Agency = {
  seed: 1,
  causes: CAUSES,
  sites: randomAgency(1, SITES).sites.map((site) => ({
    ...site,
    hasTagServer: true,
    releases: [],
    certificate: null,
    blips: [],
  })),
}

test('a server, a vendor and our own connection are an incident each, or none', async () => {
  const runs = agency.sites.map((_, place) => [
    ...runsOf('tag_failure_rate', failing, { tag_key: 'Meta' }),
    ...(place === 0 ? runsOf('data_freshness', silent, {}) : []),
  ])
  const { figures, symptoms } = await withStore(async (store) => {
    const world = await worldOf(store, agency, runs)
    return measure(store, agency, world.places, await follow(world))
  })
  const { byKind, wrongMerges, unfound, falseIncidents, messages } = figures
  const server = { causes: 1, found: 1, incidents: 1, symptoms: 3, right: 3 }
  assert.deepEqual(byKind.get('server'), server, JSON.stringify(symptoms))
  assert.deepEqual(byKind.get('vendor'), { causes: 1, found: 1, incidents: 1, symptoms: 4, right: 4 })
  assert.deepEqual(byKind.get('connection'), { causes: 1, found: 0, incidents: 0, symptoms: 0, right: 0 })
  assert.deepEqual([wrongMerges, unfound, falseIncidents], [[], [], 0])
  // Three things began and ended. What had reached the operator of the first sites was said before three of them showed it.
  assert.ok(messages.operator >= 6 && messages.operator <= 10, String(messages.operator))
  assert.ok(messages.eachAlert >= 14)
})

const shown = ({ openedAt = timeOf(VENDOR + 10), ...over }: Partial<Shown>): Shown => ({
  place: 0,
  probeType: 'tag_failure_rate',
  tag: 'Meta',
  event: null,
  field: null,
  startedAt: openedAt,
  openedAt,
  ...over,
})

const CULPRITS: readonly [title: string, shown: Shown, cause: string | null][] = [
  ['a tag that fails while its vendor does', shown({}), 'vendor'],
  ['another tag', shown({ tag: 'GA4' }), null],
  ['the tag a day before', shown({ place: 1, openedAt: timeOf(VENDOR - SLOTS_A_DAY) }), null],
  ['the tag half a day later', shown({ openedAt: timeOf(VENDOR + 14 * SLOTS_AN_HOUR) }), null],
  [
    'the tag half a day later, judged by hours in which its vendor failed',
    shown({ startedAt: timeOf(VENDOR + 10), openedAt: timeOf(VENDOR + 14 * SLOTS_AN_HOUR) }),
    'vendor',
  ],
  ['the tag in the aftermath', shown({ openedAt: timeOf(VENDOR + 4 * SLOTS_AN_HOUR) }), 'vendor'],
  [
    'silence while the server is down',
    shown({ probeType: 'data_freshness', tag: null, openedAt: timeOf(DOWN + 20) }),
    'server',
  ],
  ['silence on another site', shown({ probeType: 'data_freshness', place: 1, openedAt: timeOf(DOWN + 20) }), null],
  [
    'a health check while we are away',
    shown({ probeType: 'http_health', tag: null, openedAt: timeOf(AWAY + 5) }),
    'connection',
  ],
]
for (const [title, symptom, cause] of CULPRITS) {
  test(`${title}: ${cause ?? 'a false alarm'}`, () =>
    assert.equal(culpritOf(symptom, CAUSES, () => 0.1)?.id ?? null, cause))
}

const loss = (
  id: string,
  from: number,
  hours: number,
  fault: Partial<Fault> = {},
  server: Cause['server'] = null,
): Cause => {
  const span = { from: DOWN + from * SLOTS_AN_HOUR, to: DOWN + (from + hours) * SLOTS_AN_HOUR }
  const faults = new Map([[0, [{ kind: 'partial_loss' as const, ...span, size: 0.5, ...fault }]]])
  return { id, kind: server === null ? 'independent' : 'server', ...span, faults, server }
}

const VOLUME = { probeType: 'data_volume', tag: null, openedAt: timeOf(DOWN + 30) }
const WEIGHED: readonly [title: string, cause: Cause, share: number, event: string | null, isFound: boolean][] = [
  ['half of all events is lost', loss('loss', 0, 20), 0.1, null, true],
  [
    'half of all events is lost, which is no reason for one to be rarer than the others',
    loss('loss', 0, 20),
    0.1,
    'scroll',
    false,
  ],
  ['nothing comes', loss('silence', 0, 20, { kind: 'silent_sender', size: 0 }), 0.1, 'scroll', true],
  [
    'the site has lost an event that is half of it',
    loss('gone', 0, 20, { kind: 'event_dead', size: 0, event: 'scroll' }),
    0.5,
    null,
    true,
  ],
  [
    'an event is gone that is a tenth of the site, which is not why so much is missing',
    loss('gone', 0, 20, { kind: 'event_dead', size: 0, event: 'scroll' }),
    0.1,
    null,
    false,
  ],
]
for (const [title, cause, share, event, isFound] of WEIGHED) {
  test(`the volume ${event === null ? 'of a site' : 'of an event'} is low: ${title}`, () => {
    assert.equal(culpritOf(shown({ ...VOLUME, event }), [cause], () => share)?.id ?? null, isFound ? cause.id : null)
  })
}

test('what nobody could see, as nothing came, is the fault of nothing', () => {
  const silence = loss('silence', 0, 20, { kind: 'silent_sender', size: 0 })
  const tag = (from: number, hours: number) => loss('tag', from, hours, { kind: 'tag_dead', size: 0, tag: 'Meta' })
  const missing = shown({ probeType: 'tag_missing', openedAt: timeOf(DOWN + 20 * SLOTS_AN_HOUR + 5) })
  const found = (cause: Cause) => culpritOf(missing, [silence, cause], () => 0.1)?.id
  assert.equal(found(tag(2, 18)), 'silence')
  assert.equal(found(tag(2, 30)), 'tag')
  assert.equal(found(tag(-2, 22)), 'tag')
})

test('faults of one subject that overlap have one name, as no one could tell them apart', () => {
  const causes = [
    loss('half', 0, 20),
    loss('creeping', 10, 40, { kind: 'slow_decay' }),
    loss('in its aftermath', 51, 5),
    loss('after both', 60, 5),
    loss('of an event', 12, 5, { kind: 'event_dead', event: 'scroll' }),
    loss('of a tag', 12, 5, { kind: 'tag_failing', tag: 'Meta' }),
    loss('of another tag', 12, 5, { kind: 'tag_failing', tag: 'GA4' }),
    loss('of the server', 62, 5, {}, 'down'),
    loss('of its speed', 66, 5, {}, 'slow'),
    loss('after it was slow', 80, 5),
    ...CAUSES,
  ]
  const nameOf = asSeen(causes)
  assert.deepEqual(causes.map(nameOf), [
    'half',
    'half',
    'half',
    'after both',
    'of an event',
    'of a tag',
    'of another tag',
    'after both',
    'after both',
    'after it was slow',
    // Its server is down in the first of them.
    ...CAUSES.map(({ id }) => (id === 'server' ? 'half' : id)),
  ])
})

test('sites meet as many faults a month as in the benchmark of detection', () => {
  const agencies = Array.from({ length: 40 }, (_, seed) => randomAgency(seed, 12))
  const met = agencies.reduce((sum, one) => sum + faultsMet(one), 0) / (40 * 12)
  const aMonth = (met / 21) * 30
  assert.ok(aMonth > 8 && aMonth < 9.3, String(aMonth))
})
