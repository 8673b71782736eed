import assert from 'node:assert/strict'
import { test } from 'node:test'
import { incidentsAround, releasesAround } from '../../../src/cli/demo/incidents.ts'
import { nextRunIn, stretchesOf } from '../../../src/cli/demo/probes.ts'
import type { SiteProfile } from '../../../src/cli/demo/profile.ts'
import { COFFEE, FURNITURE, OUTDOOR } from '../../../src/cli/demo/world.ts'
import { DAY, MINUTE } from '../../../src/lib/index.ts'
import { nextRunAt } from '../../../src/probes/index.ts'
import type { ProbeRow, SiteRow } from '../../../src/store/index.ts'

const TO = Date.parse('2026-11-20T09:40:00Z')
const FROM = TO - 21 * DAY
const incidents = incidentsAround(TO)
const history = { incidents, releases: releasesAround(TO, incidents), from: FROM, to: TO }

/** Only what decides when it runs. */
const probe = (type: string, more: Partial<ProbeRow> = {}): ProbeRow =>
  ({ id: 'probe', probe_type: type, interval_seconds: 300, next_run_at: FROM, last_status: 'ok', ...more }) as ProbeRow

const stretches = (profile: SiteProfile, type: string, from = FROM) =>
  stretchesOf({ site: { profile, row: {} as SiteRow }, row: probe(type) }, { ...history, from })

test('a probe of the history runs at its beginning, fifty times before its end, and around what it finds', () => {
  const lost = incidents.find(({ kind }) => kind === 'transaction ids are lost')
  assert.ok(lost !== undefined)
  assert.deepEqual(stretches(FURNITURE, 'ecommerce_quality'), [
    { from: FROM, to: FROM + 5 * MINUTE },
    { from: lost.from - 30 * MINUTE, to: lost.to },
    { from: TO - 250 * MINUTE, to: TO },
  ])
  assert.equal(stretches(FURNITURE, 'tag_latency').length, 2)
})

test('versions are looked at whenever one is published', () => {
  const published = history.releases.filter(({ site }) => site === OUTDOOR)
  const found = stretches(OUTDOOR, 'tag_manager_version')
  for (const { at } of published) assert.ok(found.some(({ from, to }) => from <= at && at < to))
})

test('a demo that continues runs no probe before it was stopped', () => {
  const from = TO - 10 * MINUTE
  for (const stretch of stretches(FURNITURE, 'ecommerce_quality', from)) assert.ok(stretch.from >= from)
})

test('the last event of the past is not asked for where events come in batches', () => {
  assert.deepEqual(stretches(COFFEE, 'data_freshness'), [])
  assert.equal(stretches(OUTDOOR, 'data_freshness').length, 2)
})

test('a probe runs on its own grid, skips what is between the stretches, and continues until what it found is over', () => {
  const last = { from: TO - 60 * MINUTE, to: TO }
  const first = nextRunAt('probe', 300, last.from - 1)
  assert.equal(nextRunIn([last], probe('data_volume')), first)
  assert.equal(nextRunIn([last], probe('data_volume', { next_run_at: first + 5 * MINUTE })), first + 5 * MINUTE)
  assert.equal(nextRunIn([last], probe('data_volume', { last_status: 'warning' })), FROM)
  assert.equal(nextRunIn([last], probe('data_volume', { next_run_at: TO })), Number.POSITIVE_INFINITY)
})
