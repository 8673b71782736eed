import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldOrphans } from '../../src/journal/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { rollUp } from '../../src/rollups/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { PROPERTY, reportOf, SCOPE } from '../probes/types/ga4-server.ts'
import { googleServer } from '../probes/types/google-server.ts'

const START = Date.parse('2026-11-20T10:00:00Z')
/** Of which GA4 and this service have counts. */
const FROM = Date.parse('2026-11-10T23:00:00Z')

interface Result {
  status: string
  message: string
  details: Record<string, unknown>
}

async function runProbe(api: TestService, id: string): Promise<Result> {
  // Refused while the service runs it by itself.
  const ran = await until('a run of the probe', async () => {
    const answer = await api.call('POST', `/api/probes/${id}/run`)
    return answer.status === 200 ? answer : undefined
  })
  return ran.json<Result>()
}

test('what GA4 counted is fetched with the service account, and a loss against it is found', async (t) => {
  const clock = new TestClock(START)
  const hours = Array.from({ length: (START - FROM) / HOUR }, (_, n) => FROM + n * HOUR)
  // By the property's clocks in Berlin; what is younger than two days is not all there yet.
  const rows = hours.map((hour): [string, string, number] => [
    'purchase',
    isoTime(hour + HOUR)
      .slice(0, 13)
      .replace(/\D/g, ''),
    hour < START - 2 * DAY ? 10 : 1,
  ])
  const google = await googleServer(t, SCOPE, ({ body }) => {
    const [{ startDate, endDate }] = (JSON.parse(body) as { dateRanges: [{ startDate: string; endDate: string }] })
      .dateRanges
    const [first, last] = [startDate, endDate].map((date) => date.replaceAll('-', ''))
    const asked = rows.filter(([, hour]) => hour >= `${first}00` && hour <= `${last}23`)
    return reportOf(asked)
  })
  const api = await startTestService(t, clock, {
    GA4_API_URL: google.url,
    GOOGLE_CREDENTIALS: JSON.stringify(google.credentials),
    OUTBOUND_ALLOW: '127.0.0.1',
  })
  const { store } = api.service
  const client = await api.newClient()
  const fields = { timezone: 'Europe/Berlin', analytics_property_id: PROPERTY }
  const site = await api.newSite(client, fields)
  await store.write
    .updateTable('sites')
    .set({ created_at: FROM - DAY })
    .execute()
  const { site_no } = await store.read
    .selectFrom('sites')
    .select('site_no')
    .where('id', '=', site.id)
    .executeTakeFirstOrThrow()
  // In the last settled whole day, 17 November in Berlin, three of ten are lost.
  const lostFrom = Date.parse('2026-11-16T23:00:00Z')
  for (let day = FROM; day < START; day += DAY) {
    const payloads = hours
      .filter((hour) => hour >= day && hour < day + DAY)
      .flatMap((hour) =>
        Array.from({ length: hour < lostFrom ? 10 : 7 }, (_, n) => eventPayload({ timestamp_ms: hour + n * MINUTE })),
      )
    await writeJournal(store, 'gone', day, deltaOf(site_no, payloads, Math.min(START, day + DAY)))
  }
  await until('a journal without rows', async () => {
    await foldOrphans(store, [])
    return (await store.read.selectFrom('journal').select('seq').executeTakeFirst()) === undefined || undefined
  })
  await rollUp(store, START)

  const create = (probe_type: string, name: string, config: object) =>
    api.ask<{ id: string }>('POST', '/api/probes', { site_id: site.id, probe_type, name, config })
  const fetching = await create('ga4_counts', 'GA4 of the shop', { events: ['purchase'] })
  const judging = await create('reconciliation', 'Against GA4', { source: 'GA4', event: 'purchase' })

  const fetched = await runProbe(api, fetching.id)
  assert.equal(fetched.status, 'ok')
  assert.equal(fetched.message, '“GA4” counted 1,680 “purchase” in 7 days until 18 Nov, 11:00, 2 days ago')
  const references = await api.ask('GET', `/api/sites/${site.id}/reference-counts`)
  assert.deepEqual(references, [
    {
      source: 'GA4',
      event: 'purchase',
      hours: 168,
      total: 1_680,
      first_hour: '2026-11-11T10:00:00.000Z',
      last_hour: '2026-11-18T09:00:00.000Z',
    },
  ])

  // Hours that GA4 still adds to are no excess of ours, and those that it settled show the loss.
  const judged = await runProbe(api, judging.id)
  assert.equal(judged.status, 'warning')
  assert.match(judged.message, /“purchase” that “GA4” counted .* 70 %; at least 90 % should be$/)
  const audited = JSON.stringify(await api.ask('GET', '/api/audit'))
  assert.match(audited, /probe\.create/)
  assert.doesNotMatch(audited, /reference_counts/)

  // Four days later the probe that fetches has not run: the source is stale, and the message says where to look.
  await store.write
    .updateTable('probes')
    .set({ next_run_at: START + 900 * DAY })
    .execute()
  clock.advance(2 * DAY)
  assert.notEqual((await runProbe(api, judging.id)).details.reason, 'reference_stale')
  clock.advance(HOUR)
  const stale = await runProbe(api, judging.id)
  assert.deepEqual([stale.status, stale.details.reason], ['error', 'reference_stale'])
  assert.match(stale.message, /of the last 4 days: look at the probe “GA4 of the shop”, which fetches them$/)
})
