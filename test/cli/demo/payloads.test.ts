import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf } from '../../../src/cli/demo/events.ts'
import { type Incident, incidentsAround, releasesAround } from '../../../src/cli/demo/incidents.ts'
import { inBatches, PayloadReader, payloadsOf, sentAt } from '../../../src/cli/demo/payloads.ts'
import type { SiteProfile } from '../../../src/cli/demo/profile.ts'
import { COFFEE, FASHION, FURNITURE, OUTDOOR, SITES } from '../../../src/cli/demo/world.ts'
import { TAG_FAILURE_RATE_DEFAULTS } from '../../../src/detection/index.ts'
import { checkPayload } from '../../../src/ingest/check.ts'
import type { EventPayload } from '../../../src/journal/index.ts'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'

const START = Date.parse('2026-11-20T09:40:00Z')
const INCIDENTS = incidentsAround(START)
const seed = 'test'

const events = (site: SiteProfile, from: number, to: number, incidents: readonly Incident[] = []) => [
  ...eventsOf({ site, incidents, seed }, from, to),
]

test('the same seed and time give the same events, another seed others', () => {
  const day = events(OUTDOOR, START - HOUR, START, INCIDENTS)
  assert.ok(day.length > 1_000)
  assert.deepEqual(events(OUTDOOR, START - HOUR, START, INCIDENTS), day)
  const others = [...eventsOf({ site: OUTDOOR, incidents: INCIDENTS, seed: 'other' }, START - HOUR, START)]
  assert.notDeepEqual(others, day)
})

test('events do not depend on where the reading began', () => {
  const cut = START - 30 * MINUTE + 12_345
  const all = events(FURNITURE, START - HOUR, START)
  assert.deepEqual([...events(FURNITURE, START - HOUR, cut), ...events(FURNITURE, cut, START)], all)
})

for (const site of SITES) {
  test(`${site.name} sends in order, and nothing that ingest refuses`, () => {
    const payloads = [...iterate(payloadsOf({ site, incidents: INCIDENTS, seed }, START - 6 * HOUR, START))]
    assert.ok(payloads.length > 50)
    const times = payloads.map(sentAt)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    for (const payload of payloads) assert.ok(checkPayload(JSON.parse(JSON.stringify(payload))).ok)
  })
}

test('the incident under way fails about 64 % of the purchases, since 40 minutes, and nothing else', () => {
  const failureShare = (from: number, to: number, event: string, tag: string) => {
    const runs = events(OUTDOOR, from, to, INCIDENTS)
      .filter(({ event_name }) => event_name === event)
      .flatMap(({ tags }) => tags.filter(({ name }) => name === tag))
    assert.ok(runs.length > 100)
    return runs.filter(({ status }) => status === 'failure').length / runs.length
  }
  const began = START - 40 * MINUTE
  const during = failureShare(began, START + 6 * HOUR, 'purchase', 'Meta CAPI')
  assert.ok(during > 0.6 && during < 0.68, `${during}`)
  assert.ok(failureShare(began - 6 * HOUR, began, 'purchase', 'Meta CAPI') < 0.03)
  assert.ok(failureShare(began, START + 6 * HOUR, 'purchase', 'TikTok Events API') < 0.03)
  assert.ok(failureShare(began, START + 6 * HOUR, 'view_item', 'Meta CAPI Funnel') < 0.03)
})

test('Meta fails at once on sites of both clients, of which one had a new version shortly before', () => {
  const failing = INCIDENTS.filter((incident) => incident.kind === 'tag fails')
  assert.deepEqual(
    failing.map(({ site, tag, from }) => [site, tag, from]),
    [OUTDOOR, FURNITURE, FASHION].map((site) => [site, 'Meta CAPI', START - 40 * MINUTE]),
  )
  assert.equal(new Set(failing.map(({ site }) => site.client)).size, 2)
  for (const { site, from } of failing) {
    const runs = events(site, from, START, INCIDENTS)
      .flatMap(({ tags }) => tags)
      .filter(({ name }) => name === 'Meta CAPI')
    const share = runs.filter(({ status }) => status === 'failure').length / runs.length
    assert.ok(share > 0.5 && share < 0.8, `${site.name}: ${share} of ${runs.length}`)
  }
  const released = releasesAround(START, INCIDENTS).filter(({ at }) => at > START - 2 * HOUR)
  assert.deepEqual(
    released.map(({ site }) => site),
    [OUTDOOR],
  )
})

test('at any hour what Meta fails on runs often enough that probes see it begin on all sites at once', () => {
  for (let hour = 0; hour < 24; hour++) {
    const incidents = incidentsAround(START + hour * HOUR)
    for (const { kind, site, from } of incidents) {
      if (kind !== 'tag fails') continue
      const runs = events(site, from, from + 25 * MINUTE, incidents).flatMap(({ tags }) =>
        tags.filter(({ name }) => name === 'Meta CAPI'),
      )
      assert.ok(runs.length >= TAG_FAILURE_RATE_DEFAULTS.min_executions, `${site.name} after ${hour} h: ${runs.length}`)
    }
  }
})

test('the dead tag fires until two hours begin five days ago, and again after them', () => {
  const dead = INCIDENTS.find((incident) => incident.kind === 'tag does not fire')
  assert.ok(dead !== undefined)
  assert.equal(dead.to - dead.from, 2 * HOUR)
  assert.ok(START - dead.from > 4 * DAY && START - dead.from < 6 * DAY)
  const fires = (from: number, to: number) =>
    events(FASHION, from, to, INCIDENTS).some(({ tags }) => tags.some(({ name }) => name === dead.tag))
  assert.deepEqual(
    [fires(dead.from - HOUR, dead.from), fires(dead.from, dead.to), fires(dead.to, dead.to + HOUR)],
    [true, false, true],
  )
})

test('transaction ids are lost for an afternoon', () => {
  const lost = INCIDENTS.find((incident) => incident.kind === 'transaction ids are lost')
  assert.ok(lost !== undefined)
  const rate = (from: number, to: number) => {
    const purchases = events(FURNITURE, from, to, INCIDENTS).filter(({ event_name }) => event_name === 'purchase')
    return purchases.filter(({ ecommerce }) => ecommerce?.has_transaction_id === true).length / purchases.length
  }
  assert.equal(rate(lost.from, lost.to), 0)
  assert.ok(rate(lost.to, lost.to + 6 * HOUR) > 0.9)
  assert.ok(rate(lost.from - 6 * HOUR, lost.from) > 0.9)
})

test('with them goes a parameter of the shop, and the other one stays', () => {
  const lost = INCIDENTS.find((incident) => incident.kind === 'transaction ids are lost')
  assert.ok(lost !== undefined)
  const rate = (field: string, from: number, to: number) => {
    const named = events(FURNITURE, from, to, INCIDENTS).flatMap(({ fields }) => fields?.[field] ?? [])
    assert.ok(named.length > 50)
    return named.filter((isThere) => isThere).length / named.length
  }
  assert.equal(rate('delivery_slot', lost.from, lost.to), 0)
  assert.ok(rate('delivery_slot', lost.to, lost.to + 6 * HOUR) > 0.9)
  assert.ok(rate('financing', lost.from, lost.to) > 0.2)
})

test('where no choice follows the default all is denied, and tags that wait for consent do not run', () => {
  const broken = INCIDENTS.find((incident) => incident.kind === 'consent is not updated')
  assert.ok(broken !== undefined)
  const look = (from: number, to: number) => {
    const all = events(FASHION, from, to, INCIDENTS)
    const said = all.flatMap(({ consent }) => consent ?? [])
    const granted = said.filter(({ ad_storage }) => ad_storage === 'granted').length / said.length
    const metaRuns = all.flatMap(({ tags }) => tags.filter(({ name }) => name === 'Meta CAPI')).length
    return { events: all.length, said: said.length / all.length, granted, metaRuns }
  }
  const [before, during] = [look(2 * broken.from - broken.to, broken.from), look(broken.from, broken.to)]
  assert.ok(during.events > 0.8 * before.events, 'events come as before')
  assert.ok(before.said > 0.9 && during.said > 0.9)
  assert.ok(before.granted > 0.6 && during.granted === 0)
  // Where nothing is said they run.
  assert.ok(before.metaRuns > 300 && during.metaRuns < 0.1 * before.metaRuns, `${before.metaRuns}, ${during.metaRuns}`)
})

test('tags that wait for consent never run on an event that denies it', () => {
  for (const { consent, tags } of events(OUTDOOR, START - 3 * HOUR, START)) {
    const isDenied = consent?.ad_storage === 'denied'
    assert.ok(!isDenied || tags.every(({ name = '' }) => !/^(Meta|TikTok|Pinterest)/.test(name ?? '')))
  }
})

test('purchases come twice for two hours, each time with a transaction that came before', () => {
  const twice = INCIDENTS.find((incident) => incident.kind === 'purchases come twice')
  assert.ok(twice !== undefined)
  const repeated = (from: number, to: number) => {
    const purchases = events(OUTDOOR, from, to, INCIDENTS).filter(({ event_name }) => event_name === 'purchase')
    return purchases.filter(({ ecommerce }) => ecommerce?.transaction_duplicate === true).length / purchases.length
  }
  assert.ok(repeated(twice.from - 3 * HOUR, twice.from) < 0.03)
  assert.ok(Math.abs(repeated(twice.from, twice.to) - 0.5) < 0.02)
})

test('what a vendor refuses succeeds all the same', () => {
  const refused = INCIDENTS.find((incident) => incident.kind === 'vendor refuses')
  assert.ok(refused !== undefined)
  const shares = (from: number, to: number) => {
    const runs = events(OUTDOOR, from, to, INCIDENTS).flatMap(({ tags }) =>
      tags.filter(({ name }) => name === refused.tag),
    )
    const shareOf = (has: (run: (typeof runs)[number]) => boolean) => runs.filter(has).length / runs.length
    return [shareOf(({ response }) => response === '4xx'), shareOf(({ status }) => status === 'success')] as const
  }
  const [[before], [during, succeeds]] = [shares(refused.from - HOUR, refused.from), shares(refused.from, refused.to)]
  assert.ok(before < 0.02 && Math.abs(during - 0.85) < 0.03 && succeeds > 0.95, `${before}, ${during}, ${succeeds}`)
})

test('nothing arrives from the coffee roaster for a while, and as usual before and after', () => {
  const away = INCIDENTS.find((incident) => incident.kind === 'nothing arrives')
  assert.ok(away !== undefined)
  const count = (from: number, to: number) => events(COFFEE, from, to, INCIDENTS).length
  assert.equal(count(away.from, away.to), 0)
  assert.ok(count(away.from - HOUR, away.from) > 200)
  assert.ok(count(away.to, away.to + HOUR) > 200)
})

test('batches are full but for the last, and add up to their events', () => {
  const given = events(COFFEE, START - 3 * HOUR, START)
  const batches = [...inBatches(given, 20)]
  assert.ok(batches.length > 20)
  assert.ok(batches.slice(0, -1).every(({ total_events }) => total_events === 20))
  const sum = (of: (batch: (typeof batches)[number]) => number | undefined) =>
    batches.reduce((total, batch) => total + (of(batch) ?? 0), 0)
  const count = (has: (event: EventPayload) => boolean | undefined) =>
    given.filter((event) => has(event) === true).length
  assert.equal(
    sum((batch) => batch.total_events),
    given.length,
  )
  assert.equal(
    sum((batch) => batch.event_counts?.purchase),
    count((event) => event.event_name === 'purchase'),
  )
  assert.equal(
    sum((batch) => batch.user_data_quality?.email),
    count((event) => event.user_data?.has_email),
  )
  assert.equal(
    sum((batch) => batch.user_data_quality?.total),
    count((event) => event.user_data !== undefined),
  )
  assert.equal(
    sum((batch) => batch.ecommerce_quality?.transaction_id),
    count((event) => event.ecommerce?.has_transaction_id),
  )
  assert.equal(
    sum((batch) => batch.consent?.ad_storage_denied),
    count((event) => event.consent?.ad_storage === 'denied'),
  )
  assert.equal(
    sum((batch) => batch.identifiers?.fbp),
    count((event) => event.identifiers?.has_fbp),
  )
  assert.equal(
    sum((batch) => batch.ecommerce_quality?.items_empty),
    count((event) => event.ecommerce?.items_empty),
  )
  assert.equal(
    sum((batch) => batch.tag_metrics?.GA4?.ad_storage_denied),
    count((event) => event.consent?.ad_storage === 'denied'),
  )
  const runs = given.flatMap((event) => event.tags).filter(({ name }) => name === 'GA4')
  assert.equal(
    sum((batch) => batch.tag_metrics?.GA4?.count),
    runs.length,
  )
  assert.equal(
    sum((batch) => batch.tag_metrics?.GA4?.total_exec_ms),
    runs.reduce((total, { execution_time }) => total + (execution_time ?? 0), 0),
  )
  assert.equal(batches[0]?.window_start_ms, given[0]?.timestamp_ms)
  assert.equal(batches.at(-1)?.window_end_ms, given.at(-1)?.timestamp_ms)
})

test('a reader gives each payload once, up to the time asked for', () => {
  const times = [10, 20, 20, 35]
  const payloads = times.map((timestamp_ms) => ({ container_id: 'c', event_name: 'e', timestamp_ms, tags: [] }))
  const reader = new PayloadReader(payloads.values())
  assert.deepEqual(
    [10, 21, 21, 100].map((time) => [...reader.takeUntil(time)].map(sentAt)),
    [[], [10, 20, 20], [], [35]],
  )
})

function* iterate<T>(iterator: Iterator<T>): Generator<T> {
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) yield next.value
}
