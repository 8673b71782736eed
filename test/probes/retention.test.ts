import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, floorTo, HOUR, MINUTE, newId, SECOND } from '../../src/lib/index.ts'
import { clearResults, RESULTS_PER_PROBE, type ResultMark, repeatedResults } from '../../src/probes/retention.ts'
import { chunksOf, type Store } from '../../src/store/index.ts'
import { NOW } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe, newResultRow } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { resultsOf } from './support.ts'

async function addResults(
  store: Store,
  probeId: string,
  times: readonly number[],
  statusAt: (at: number) => string = () => 'ok',
): Promise<void> {
  for (const chunk of chunksOf(times)) {
    const rows = chunk.map((at) => newResultRow(probeId, at, { status: statusAt(at) }))
    await store.write.insertInto('probe_results').values(rows).execute()
  }
}

const timesOf = async (store: Store, probeId: string): Promise<number[]> =>
  (await resultsOf(store, probeId)).map(({ executed_at }) => executed_at)

const writeDay = (store: Store, siteId: string, day: string) =>
  store.write
    .insertInto('site_days')
    .values({
      site_id: siteId,
      day,
      ok_ms: 0,
      warning_ms: 0,
      critical_ms: 0,
      maintenance_ms: 0,
      unknown_ms: 0,
      written_at: NOW,
    })
    .execute()

const marks = (letters: string, everyMs: number): ResultMark[] =>
  Array.from(letters, (letter, n) => ({
    id: String(n),
    status: { o: 'ok', u: 'ok', w: 'warning', e: 'error' }[letter] ?? letter,
    reason: letter === 'u' ? 'learning' : null,
    executed_at: NOW + n * everyMs,
  }))

const REPEATED: readonly [letters: string, everyMs: number, gone: string[]][] = [
  ['', MINUTE, []],
  ['o', MINUTE, []],
  ['oooo', 20 * MINUTE, ['1', '2']],
  ['owwo', MINUTE, ['2']],
  ['oeoe', MINUTE, []],
  ['ouuo', MINUTE, ['2']],
  ['oooo', HOUR, []],
]
for (const [letters, everyMs, gone] of REPEATED) {
  test(`of ${letters || 'no results'} every ${everyMs / MINUTE} min, ${gone.length} repeat what came before in their hour`, () => {
    assert.deepEqual(repeatedResults(marks(letters, everyMs), HOUR), gone)
  })
}

testOnEveryEngine(
  'old results are thinned to one an hour, then to one a day, and every change stays',
  async (store) => {
    const site = await insertSite(store)
    const today = floorTo(NOW, DAY)
    await writeDay(store, site.id, new Date(today - DAY).toISOString().slice(0, 10))
    const { id } = await insertProbe(store, site.id, { interval_seconds: 1_200 })
    const times = Array.from({ length: 20 * 72 }, (_, n) => today - 20 * DAY + n * 20 * MINUTE)
    const [bad, good] = [today - 8 * DAY + 20 * MINUTE, today - 8 * DAY + 100 * MINUTE]
    const [worse, better] = [today - 17 * DAY + 20 * MINUTE, today - 17 * DAY + 100 * MINUTE]
    const isBad = (at: number) => (at >= bad && at < good) || (at >= worse && at < better)
    await addResults(store, id, times, (at) => (isBad(at) ? 'critical' : 'ok'))
    await clearResults(store, 90, NOW, () => true)
    const wholeFrom = floorTo(NOW - 3 * DAY - 3 * HOUR, DAY)
    const hourlyFrom = wholeFrom - 10 * DAY
    const kept = times.filter(
      (at) =>
        at >= wholeFrom ||
        at % DAY === 0 ||
        (at >= hourlyFrom && at % HOUR === 0) ||
        [bad, good, worse, better].includes(at),
    )
    assert.deepEqual(await timesOf(store, id), kept)
    // What is thinned once is not read again, and the next day goes on where this one ended.
    await addResults(store, id, [wholeFrom - 10 * MINUTE])
    await clearResults(store, 90, NOW, () => true)
    assert.equal((await timesOf(store, id)).length, kept.length + 1)
    await clearResults(store, 90, NOW + DAY, () => true)
    const ofDay = (await timesOf(store, id)).filter((at) => floorTo(at, DAY) === wholeFrom)
    assert.deepEqual(
      ofDay,
      Array.from({ length: 24 }, (_, hour) => wholeFrom + hour * HOUR),
    )
  },
)

testLogic('an interruption of thinning loses nothing, and the next pass goes on', async (store) => {
  const site = await insertSite(store)
  await writeDay(store, site.id, new Date(NOW - DAY).toISOString().slice(0, 10))
  const { id } = await insertProbe(store, site.id, { interval_seconds: 1_200 })
  const first = floorTo(NOW, DAY) - 9 * DAY
  await addResults(
    store,
    id,
    Array.from({ length: 3 * 72 }, (_, n) => first + n * 20 * MINUTE),
  )
  let asked = 0
  // Twice for what is too old and too many, then once for each day.
  await clearResults(store, 90, NOW, () => ++asked < 4)
  const lengths = [(await timesOf(store, id)).length]
  await clearResults(store, 90, NOW, () => true)
  lengths.push((await timesOf(store, id)).length)
  assert.ok((lengths[0] ?? 0) > 72 && (lengths[0] ?? 0) < 216, `${lengths[0]} left after the interruption`)
  assert.equal(lengths[1], 72)
})

testLogic(
  'the last result of a paused probe stays, and the days of a site that are not written stay whole',
  async (store) => {
    const site = await insertSite(store, { timezone: 'UTC' })
    const first = floorTo(NOW, DAY) - 7 * DAY
    const times = [first, first + MINUTE, first + 2 * MINUTE]
    const { id } = await insertProbe(store, site.id, { interval_seconds: 60, last_result_at: first + 2 * MINUTE })
    await addResults(store, id, times)
    await clearResults(store, 90, NOW, () => true)
    assert.deepEqual(await timesOf(store, id), times)
    await writeDay(store, site.id, new Date(NOW - DAY).toISOString().slice(0, 10))
    await clearResults(store, 90, NOW, () => true)
    assert.deepEqual(await timesOf(store, id), [first, first + 2 * MINUTE])
  },
)

testOnEveryEngine('results go when they are too old, or days after their probe', async (store) => {
  const site = await insertSite(store)
  await writeDay(store, site.id, new Date(NOW - DAY).toISOString().slice(0, 10))
  const daily = await insertProbe(store, site.id, { interval_seconds: 86_400 })
  const deleted = newId()
  await addResults(store, daily.id, [NOW - 91 * DAY, NOW - 90 * DAY - 1, NOW - 90 * DAY, NOW])
  await addResults(store, deleted, [NOW - 1, NOW])
  const [lately, earlier] = [newId(), newId()]
  for (const [id, removed_at] of [[lately, NOW] as const, [earlier, NOW - 4 * DAY - 1] as const]) {
    const removed = { id, site_id: site.id, probe_type: 'fake', interval_seconds: 60, removed_at }
    await store.write.insertInto('removed_probes').values(removed).execute()
    await addResults(store, id, [NOW - 4 * DAY - 1, NOW - 4 * DAY])
  }
  await clearResults(store, 90, NOW, () => false)
  assert.equal((await resultsOf(store, deleted)).length, 2)
  await clearResults(store, 90, NOW, () => true)
  assert.deepEqual(await timesOf(store, daily.id), [NOW - 90 * DAY, NOW])
  assert.deepEqual(await resultsOf(store, deleted), [])
  assert.deepEqual(await resultsOf(store, earlier), [])
  assert.deepEqual(await timesOf(store, lately), [NOW - 4 * DAY])
  const removed = await store.read.selectFrom('removed_probes').select('id').execute()
  assert.deepEqual(removed, [{ id: lately }])
})

testOnEveryEngine(
  'a probe whose results are all too old at the first pass does not end it for the others',
  async (store) => {
    const site = await insertSite(store)
    await writeDay(store, site.id, new Date(NOW - DAY).toISOString().slice(0, 10))
    const probes = [await insertProbe(store, site.id), await insertProbe(store, site.id)]
    for (const { id } of probes) await addResults(store, id, [NOW - 91 * DAY])
    await clearResults(store, 90, NOW, () => true)
    for (const { id } of probes) assert.deepEqual(await timesOf(store, id), [])
  },
)

testOnEveryEngine('results of days that are not written stay until they are', async (store) => {
  const site = await insertSite(store, { timezone: 'Europe/Berlin' })
  const probe = await insertProbe(store, site.id, { interval_seconds: 30 })
  // In Berlin the day begins an hour before that of UTC, and a result of three hours before may reach into it.
  const open = Date.parse('2026-11-17T20:00:00Z')
  await addResults(store, probe.id, [open - 15 * DAY, open - 1, open, NOW])
  const left = async () => {
    await clearResults(store, 1, NOW, () => true)
    return timesOf(store, probe.id)
  }
  assert.deepEqual(await left(), [open - 1, open, NOW], 'no fault of writing days keeps them for ever')
  await writeDay(store, site.id, '2026-11-17')
  assert.deepEqual(await left(), [open, NOW])
  await writeDay(store, site.id, '2026-11-19')
  assert.deepEqual(await left(), [NOW])
})

testLogic('however many results unwritten days need, they stay, and so do those from before', async (store) => {
  const site = await insertSite(store, { timezone: 'UTC' })
  await writeDay(store, site.id, new Date(NOW - 6 * DAY).toISOString().slice(0, 10))
  const { id } = await insertProbe(store, site.id, { interval_seconds: 30 })
  const [changed, open] = [NOW - 60 * DAY, floorTo(NOW, DAY) - 5 * DAY]
  const times = Array.from({ length: RESULTS_PER_PROBE + 10 }, (_, n) => open + n * 30 * SECOND)
  await addResults(store, id, [changed, ...times])
  await clearResults(store, 90, NOW, () => true)
  const kept = await timesOf(store, id)
  assert.deepEqual([kept.length, kept[0], kept[1]], [times.length + 1, changed, open])
})

testOnEveryEngine(
  'a probe that is run again and again keeps no more results than one of the shortest interval',
  async (store) => {
    const site = await insertSite(store)
    const { id } = await insertProbe(store, site.id, { interval_seconds: 86_400 })
    const times = Array.from(
      { length: RESULTS_PER_PROBE + 3 },
      (_, n) => NOW + (n - RESULTS_PER_PROBE - 3) * 10 * SECOND,
    )
    await addResults(store, id, times)
    await clearResults(store, 90, NOW, () => true)
    const kept = await timesOf(store, id)
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [RESULTS_PER_PROBE, times[3], times.at(-1)])
  },
)

testLogic('more probes and results than one step takes are cleared in one go', async (store) => {
  const gone = Array.from({ length: 201 }, () => newId())
  for (const id of gone) await addResults(store, id, [NOW])
  const [first = ''] = gone
  await addResults(
    store,
    first,
    Array.from({ length: 2_100 }, (_, n) => NOW + n),
  )
  await clearResults(store, 90, NOW, () => true)
  assert.deepEqual(await store.read.selectFrom('probe_results').select('id').execute(), [])
})
