import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BOUND,
  isPartOf,
  joiningOf,
  logChanceByThemselves,
  type VendorSign,
  type VendorSite,
  vendorFaults,
  vendorTitle,
} from '../../../src/alerts/incidents/across-sites.ts'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'

const NOW = Date.parse('2026-11-20T14:48:00Z')

/** An incident of a site at so many minutes. */
const bad = (site: number, minutes: number, vendor = 'meta', failing = 'failing'): VendorSign => ({
  incidentId: `${vendor}-${site}-${minutes}`,
  siteId: String(site),
  clientId: `of ${site}`,
  vendor,
  failing,
  startedAt: NOW + minutes * MINUTE,
  resolutionMs: 0,
})

const sites =
  (count: number, alerts = 0) =>
  (): VendorSite[] =>
    Array.from({ length: count }, (_, site) => ({ siteId: String(site), clientId: `of ${site}`, alerts }))

const onSites = (count: number, apart = 0): VendorSign[] =>
  Array.from({ length: count }, (_, site) => bad(site, site * apart))

const falling = (count: number): VendorSign[] =>
  Array.from({ length: count }, (_, site) => bad(site, site % 5, 'Tagwarden', 'falls'))

/** Sites whose fall is found by the hour: by `data_volume`. */
const fallingByTheHour = (first: number, count: number, minutes: number): VendorSign[] =>
  falling(count).map((sign, n) => {
    const siteId = String(first + n)
    const fall = { siteId, clientId: `of ${siteId}`, incidentId: `hour-${siteId}` }
    return { ...sign, ...fall, startedAt: NOW + minutes * MINUTE, resolutionMs: HOUR }
  })

/** The same, of one client. */
const ofOne = <T extends { clientId: string }>(all: readonly T[]): T[] =>
  all.map((one) => ({ ...one, clientId: 'of all' }))

/** The same, the first so many of one client. */
const ofFirst = <T extends { clientId?: string }>(count: number, all: readonly T[]): T[] =>
  all.map((one, n) => (n < count ? { ...one, clientId: 'of all' } : one))

const bigOf = (own: number, count: number) => () => ofFirst(own, sites(count)())

const SITUATIONS: readonly [
  what: string,
  signs: readonly VendorSign[],
  of: () => VendorSite[],
  affected: number | null,
][] = [
  ['1 of 20 sites', onSites(1), sites(20), null],
  ['2 of 2 sites', onSites(2), sites(2), null],
  ['2 of 20 sites', onSites(2), sites(20), null],
  ['3 of 3 sites', onSites(3), sites(3), 3],
  ['3 of 20 sites', onSites(3), sites(20), 3],
  ['14 of 20 sites', onSites(14), sites(20), 14],
  ['3 of 500 sites, which chance may do', onSites(3), sites(500), null],
  ['6 of 500 sites', onSites(6), sites(500), 6],
  ['3 of 20 sites whose tags fail every day', onSites(3), sites(20, 30), null],
  ['14 of 20 sites whose tags fail every day', onSites(14), sites(20, 30), 14],
  ['3 of 20 sites, half an hour apart each', onSites(3, 30), sites(20), null],
  ['5 of 20 sites, four minutes apart each', onSites(5, 4), sites(20), 5],
  ['all events of 10 of 20 sites', falling(10), sites(20), 10],
  ['all events of 9 of 20 sites, which is not half of them', falling(9), sites(20), null],
  ['all events of 6 of 10 sites, which are those of one client', ofFirst(6, falling(6)), bigOf(6, 10), null],
  ['all events of 8 of 10 sites, of one client and of half of the others', ofFirst(6, falling(8)), bigOf(6, 10), 8],
  ['all events of 4 of 6 sites of the only client', ofOne(falling(4)), bigOf(6, 6), 4],
  ['all events of 4 of 4 sites', falling(4), sites(4), 4],
  [
    'all events of 10 of 20 sites, on 5 of them since some time of the hour',
    [...falling(5), ...fallingByTheHour(5, 5, -48)],
    sites(20),
    10,
  ],
  [
    'all events of 10 of 20 sites, on 5 of them since the hour after',
    [...falling(5), ...fallingByTheHour(5, 5, 20)],
    sites(20),
    null,
  ],
  ['all events of 3 of 3 sites, which may share anything', falling(3), sites(3), null],
  ['three faults of one site', [bad(1, 0), bad(1, 2), bad(1, 4)], sites(20), null],
  ['three vendors on three sites', [bad(1, 0), bad(2, 0, 'tiktok'), bad(3, 0, 'criteo')], sites(20), null],
  [
    'a vendor that fails on two sites and is slow on a third',
    [bad(1, 0), bad(2, 0), bad(3, 0, 'meta', 'slow')],
    sites(20),
    null,
  ],
  ['6 of 20 sites, all of one client', ofOne(onSites(6)), sites(20), 6],
  ['three at once and one of hours before', [...onSites(3), bad(9, -300)], sites(20), 3],
]

for (const [what, signs, of, affected] of SITUATIONS) {
  test(`${what}: ${affected === null ? 'each its own fault' : 'the vendor'}`, () => {
    const [fault, ...others] = vendorFaults(signs, of)
    assert.deepEqual(others, [])
    assert.equal(fault?.signs.length ?? null, affected)
    if (fault !== undefined) assert.equal(fault.startedAt, NOW)
  })
}

test('two vendors that fail at once are two faults', () => {
  const signs = [...onSites(4), ...onSites(4).map((sign) => ({ ...sign, vendor: 'tiktok' }))]
  assert.deepEqual(
    vendorFaults(signs, sites(20)).map(({ vendor }) => vendor),
    ['meta', 'tiktok'],
  )
})

test('the more sites there are and the oftener they fail, the more it takes', () => {
  const chance = (count: number, of: number, alerts: number) => logChanceByThemselves(count, sites(of, alerts)())
  assert.ok(chance(3, 10, 0) < chance(3, 20, 0) && chance(3, 20, 0) < chance(3, 20, 2))
  assert.ok(chance(3, 20, 0) < BOUND && chance(3, 20, 30) > BOUND)
})

test('what begins within an hour of a fault that lasts is part of it', () => {
  const fault = { vendor: 'meta', failing: 'failing', startedAt: NOW }
  for (const [minutes, is] of [
    [-11, false],
    [-9, true],
    [0, true],
    [59, true],
    [61, false],
  ] as const) {
    assert.equal(isPartOf(bad(1, minutes), fault), is, String(minutes))
  }
  const fall = { vendor: 'Tagwarden', failing: 'falls', startedAt: NOW }
  const ofHour = (minutes: number) => fallingByTheHour(1, 1, minutes).map((sign) => isPartOf(sign, fall))
  assert.deepEqual([-71, -69, 59, 61].flatMap(ofHour), [false, true, true, false])
  assert.equal(isPartOf(bad(1, 0, 'tiktok'), fault), false)
  assert.equal(isPartOf(bad(1, 0, 'meta', 'slow'), fault), false)
})

test('sites of other clients join what fails on one client alone only once two of these clients show it', () => {
  const [own, foreign, third] = [...ofOne([bad(1, 0)]), bad(2, 0), bad(3, 0)]
  assert.ok(own !== undefined && foreign !== undefined && third !== undefined)
  const ofOneClient = new Set(['of all'])
  assert.deepEqual(joiningOf([own, foreign], ofOneClient), [own])
  assert.deepEqual(joiningOf([own, foreign, third], ofOneClient), [own, foreign, third])
  assert.deepEqual(joiningOf([foreign], new Set(['of all', 'of 9'])), [foreign])
})

test('the title counts the sites', () => {
  const title = (vendor: string, failing: string, affected: number, of: number) =>
    vendorTitle({ vendor, failing, sites: of }, affected, new Set(['of 1', 'of 2']))
  assert.equal(title('Meta', 'failing', 14, 20), 'Meta tags fail on 14 of 20 sites')
  assert.equal(title('TikTok', 'slow', 3, 2), 'TikTok tags are slow on 3 of 3 sites')
})
