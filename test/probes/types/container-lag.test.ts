import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import { judgeVersions, type SeenVersion } from '../../../src/probes/container-lag/judge.ts'
import type { JsonObject } from '../../../src/probes/probe-type.ts'
import { containerLag } from '../../../src/probes/types/container-lag.ts'
import type { Store } from '../../../src/store/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { countsIn } from '../../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { count } from '../../analytics/support.ts'
import { resultOf, siteWith } from './data-support.ts'

const LAG_MINUTES = 60

const seen = (version: string, first: number, last: number, over: Partial<SeenVersion> = {}): SeenVersion => ({
  container_id: 'GTM-A',
  version,
  environment: 'Live',
  first_seen_at: first,
  last_seen_at: last,
  ...over,
})

const at41 = { current: { 'GTM-A': '41' }, mixedSince: {} }

test('the first version that is seen is no change', () => {
  const { status, message, deployMarkers, memory } = judgeVersions([seen('41', NOW - HOUR, NOW)], {}, LAG_MINUTES, NOW)
  assert.deepEqual([status, message, deployMarkers], ['ok', 'GTM-A at version 41', []])
  assert.deepEqual(memory, at41)
  const unnamed = judgeVersions([seen('41', NOW - HOUR, NOW, { environment: '' })], {}, LAG_MINUTES, NOW)
  assert.equal(unnamed.message, message, 'without the name of an environment it is the live one')
})

test('a newer version is a deploy at the time of its first event', () => {
  const rows = [seen('41', NOW - 9 * HOUR, NOW - MINUTE), seen('42', NOW - 3 * MINUTE, NOW)]
  const { status, deployMarkers } = judgeVersions(rows, at41, LAG_MINUTES, NOW)
  assert.equal(status, 'ok', 'instances may take a while')
  assert.deepEqual(
    deployMarkers?.map(({ source, fromVersion, toVersion, at }) => [source, fromVersion, toVersion, at]),
    [['server container', '41', '42', NOW - 3 * MINUTE]],
  )
})

test('instances that still run the version before an hour later are a warning, since both were seen', () => {
  const first = [seen('42', NOW - 3 * MINUTE, NOW), seen('41', NOW - 9 * HOUR, NOW)]
  const { memory = {} } = judgeVersions(first, at41, LAG_MINUTES, NOW)
  const later = NOW + HOUR
  const rows = [seen('42', NOW - 3 * MINUTE, later), seen('41', NOW - 9 * HOUR, later - MINUTE)]
  const { status, message, startedAt, deployMarkers } = judgeVersions(rows, memory, LAG_MINUTES, later)
  assert.deepEqual([status, startedAt, deployMarkers], ['warning', NOW, []])
  assert.equal(message, 'Version 41 of GTM-A still sends events, 60 min after a newer one appeared; the newest is 42')
  const well = [seen('42', NOW, later + HOUR), seen('41', NOW - 9 * HOUR, later)]
  const after = judgeVersions(well, memory, LAG_MINUTES, later + HOUR)
  assert.deepEqual([after.status, after.memory], ['ok', { current: { 'GTM-A': '42' }, mixedSince: {} }])
})

test('releases in quick succession are no lag, and an instance that stays behind all of them is', () => {
  let memory = {}
  const at = (minute: number, ...rows: [version: string, first: number, last: number][]) => {
    const time = (minutes: number) => NOW + minutes * MINUTE
    const versions = rows.map(([version, first, last]) => seen(version, time(first), time(last)))
    const {
      status,
      message,
      startedAt,
      memory: after = {},
    } = judgeVersions(versions, memory, LAG_MINUTES, time(minute))
    memory = JSON.parse(JSON.stringify(after)) as JsonObject
    return [status, message, startedAt]
  }
  // Every ten minutes a release, and the version before it is silent a minute later.
  for (let minute = 0; minute <= 90; minute += 5) {
    const number = Math.floor(minute / 10)
    const start = number * 10
    const before: [string, number, number][] = number === 0 ? [] : [[String(40 + number - 1), start - 10, start + 1]]
    const [status, message] = at(minute, [String(40 + number), start, minute], ...before)
    assert.equal(status, 'ok', String(message))
  }
  at(100, ['50', 95, 100], ['49', 90, 100])
  at(130, ['51', 125, 130], ['50', 95, 126], ['49', 90, 130])
  const [status, message, startedAt] = at(160, ['51', 125, 160], ['49', 90, 160])
  assert.deepEqual([status, startedAt], ['warning', NOW + 100 * MINUTE])
  assert.equal(message, 'Version 49 of GTM-A still sends events, 60 min after a newer one appeared; the newest is 51')
})

test('of two containers that lag, the one that has longer says since when', () => {
  const other = { container_id: 'GTM-B' }
  const rows = [
    ...[seen('42', NOW - 9 * HOUR, NOW), seen('41', NOW - 20 * HOUR, NOW), seen('40', NOW - 30 * HOUR, NOW)],
    ...[seen('8', NOW - 9 * HOUR, NOW, other), seen('7', NOW - 20 * HOUR, NOW, other)],
  ]
  const current = { 'GTM-A': '42', 'GTM-B': '8' }
  const mixedSince = { 'GTM-A 41': NOW - 3 * HOUR, 'GTM-A 40': NOW - 3 * HOUR, 'GTM-B 7': NOW - 2 * HOUR }
  const { status, message, startedAt } = judgeVersions(rows, { current, mixedSince }, LAG_MINUTES, NOW)
  assert.deepEqual([status, startedAt], ['warning', NOW - 3 * HOUR])
  assert.match(message, /^Versions 41, 40 of GTM-A still send events, .*; Version 7 of GTM-B still sends events, /)
})

test('what lagged before an upgrade from the version that kept one time for each container goes on', () => {
  const rows = [seen('42', NOW - 9 * HOUR, NOW), seen('41', NOW - 20 * HOUR, NOW)]
  const before = { current: { 'GTM-A': '42' }, mixedSince: { 'GTM-A': NOW - 3 * HOUR } }
  const { status, startedAt, memory } = judgeVersions(rows, before, LAG_MINUTES, NOW)
  assert.deepEqual([status, startedAt], ['warning', NOW - 3 * HOUR])
  assert.deepEqual(memory?.mixedSince, { 'GTM-A 41': NOW - 3 * HOUR })
})

test('a site whose events name no version is asked to update its template', () => {
  const { status, reason, message } = judgeVersions([], {}, LAG_MINUTES, NOW)
  assert.deepEqual([status, reason], ['ok', 'no_data'])
  assert.match(message, /update the tag's template$/)
})

test('a rollback is a deploy of the older version once the newer one is silent, and no lag', () => {
  const at42 = { current: { 'GTM-A': '42' }, mixedSince: {} }
  const both = [seen('42', NOW - 5 * HOUR, NOW - MINUTE), seen('41', NOW - 9 * HOUR, NOW)]
  const during = judgeVersions(both, at42, LAG_MINUTES, NOW)
  assert.deepEqual([during.status, during.deployMarkers], ['ok', []])
  const later = NOW + 20 * MINUTE
  const back = [seen('42', NOW - 5 * HOUR, NOW - MINUTE), seen('41', NOW - 9 * HOUR, later)]
  const { status, deployMarkers } = judgeVersions(back, during.memory ?? {}, LAG_MINUTES, later)
  assert.equal(status, 'ok')
  assert.deepEqual(
    deployMarkers?.map(({ fromVersion, toVersion, at }) => [fromVersion, toVersion, at]),
    [['42', '41', undefined]],
  )
})

test('environments are apart, and what visitors do not meet is named', () => {
  const staging = { environment: 'Staging' }
  const rows = [seen('41', NOW - HOUR, NOW), seen('44', NOW - MINUTE, NOW, staging)]
  const before = { current: { 'GTM-A': '41', 'GTM-A (Staging)': '43' }, mixedSince: {} }
  const { deployMarkers } = judgeVersions(rows, before, LAG_MINUTES, NOW)
  assert.deepEqual(
    deployMarkers?.map(({ source }) => source),
    ['server container (Staging)'],
  )
})

test('a site that is silent at night judges nothing and forgets nothing', () => {
  const { status, reason, memory } = judgeVersions([seen('41', NOW - 9 * HOUR, NOW - HOUR)], at41, LAG_MINUTES, NOW)
  assert.deepEqual([status, reason, memory], ['ok', 'no_data', at41])
})

test('environments that no row names any more are forgotten', () => {
  const day = (index: number) => {
    const at = NOW + index * 24 * HOUR
    return Array.from({ length: 50 }, (_, line) => seen('41', at, at, { environment: `preview ${index}-${line}` }))
  }
  let memory = {}
  for (let index = 0; index < 60; index++) {
    const rows = [index, index - 1, index - 2].flatMap(day)
    memory = judgeVersions(rows, memory, LAG_MINUTES, NOW + index * 24 * HOUR).memory ?? {}
  }
  const { current } = memory as { current: object }
  assert.equal(Object.keys(current).length, 150)
})

const versionsIn = (store: Store, siteNo: number) =>
  store.read
    .selectFrom('container_versions')
    .select(['container_id', 'version', 'first_seen_at', 'last_seen_at'])
    .where('site_no', '=', siteNo)
    .orderBy('version')
    .execute()

testLogic(
  'container_lag: versions of events and batches are noted, with when each came first and last',
  async (store, t) => {
    const of = (version: string) => ({ container: { version, environment: 'Live' } })
    const payloads = [
      event(NOW - 3 * HOUR, of('41')),
      batch(NOW - 2 * HOUR, { total_events: 3, ...of('41') }),
      event(NOW - 10 * MINUTE, of('42')),
      event(NOW - 5 * MINUTE),
      event(NOW - 2 * MINUTE, of('42')),
    ]
    const site = await siteWith(store, payloads)
    await count(store, site, [event(NOW - MINUTE, of('42'))])
    assert.deepEqual(await versionsIn(store, site.site_no), [
      { container_id: 'GTM-ABC1234', version: '41', first_seen_at: NOW - 3 * HOUR, last_seen_at: NOW - 2 * HOUR },
      { container_id: 'GTM-ABC1234', version: '42', first_seen_at: NOW - 10 * MINUTE, last_seen_at: NOW - MINUTE },
    ])
    const { status, message } = await resultOf(t, store, site, containerLag)
    assert.deepEqual([status, message], ['ok', 'GTM-ABC1234 at version 42'])
  },
)

testOnEveryEngine(
  'container_lag: of a sender that makes up versions 50 a day are noted, and all events counted',
  async (store) => {
    const payloads = Array.from({ length: 60 }, (_, index) =>
      event(NOW - HOUR, { container: { version: `v${index}` } }),
    )
    const site = await siteWith(store, payloads)
    assert.equal((await versionsIn(store, site.site_no)).length, 50)
    const rows = await store.read
      .selectFrom(countsIn(store.read, 'event_rollups'))
      .select((eb) => eb.fn.sum<number>('total').as('total'))
      .where('site_no', '=', site.site_no)
      .where('grain', '=', 60)
      .executeTakeFirstOrThrow()
    assert.equal(rows.total, 60)
  },
)

testOnEveryEngine('container_lag: a site whose tag does not say its version has nothing to judge', async (store, t) => {
  const { status, reason } = await resultOf(t, store, await siteWith(store, [event(NOW - MINUTE)]), containerLag)
  assert.deepEqual([status, reason], ['ok', 'no_data'])
})
