import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import { type Agency, type Cause, faultsMet, randomAgency } from '../alerts/incidents/causes.ts'
import type { Run } from '../alerts/incidents/data-runs.ts'
import { measure } from '../alerts/incidents/measure.ts'
import { follow } from '../alerts/incidents/pipeline.ts'
import { culpritOf, type Shown } from '../alerts/incidents/truth.ts'
import { withStore, worldOf } from '../alerts/incidents/world-store.ts'
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

const shown = (over: Partial<Shown>): Shown => ({
  place: 0,
  probeType: 'tag_failure_rate',
  tag: 'Meta',
  event: null,
  field: null,
  openedAt: timeOf(VENDOR + 10),
  ...over,
})

const CULPRITS: readonly [title: string, shown: Shown, cause: string | null][] = [
  ['a tag that fails while its vendor does', shown({}), 'vendor'],
  ['another tag', shown({ tag: 'GA4' }), null],
  ['the tag a day before', shown({ place: 1, openedAt: timeOf(VENDOR - SLOTS_A_DAY) }), null],
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
  test(`${title}: ${cause ?? 'a false alarm'}`, () => assert.equal(culpritOf(symptom, CAUSES)?.id ?? null, cause))
}

test('sites meet as many faults a month as in the benchmark of detection', () => {
  const agencies = Array.from({ length: 40 }, (_, seed) => randomAgency(seed, 12))
  const met = agencies.reduce((sum, one) => sum + faultsMet(one), 0) / (40 * 12)
  const aMonth = (met / 21) * 30
  assert.ok(aMonth > 8 && aMonth < 9.3, String(aMonth))
})
