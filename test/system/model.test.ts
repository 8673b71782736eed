import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { applyRetention } from '../../src/rollups/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { enginesInTurn, placeFor, sqlite, testPerEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { type Model, modelOf } from '../../testkit/model.ts'
import { payloads } from '../../testkit/random-payloads.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

interface Presence {
  present: number
}
interface Overview {
  total_events: number
  events: { event_name: string; total: number }[]
  tags: { tag_key: string; executions: number; success: number; failure: number; timeout: number; exception: number }[]
  user_data: { total: number } & Record<string, Presence>
  ecommerce: { total: number } & Record<string, Presence>
  consent: { total: number; dma: number; never_updated: Presence & { total: number } } & Record<
    'ad_storage' | 'analytics_storage' | 'ad_user_data' | 'ad_personalization',
    { granted: number; denied: number; absent: number }
  > & { tags: { tag_key: string; ad_storage_denied: number; analytics_storage_denied: number }[] }
  identifiers: { total: number } & Record<string, Presence>
  validity: { total: number } & Record<string, Presence>
  responses: { total: number; tags: ({ tag_key: string; total: number } & Record<string, number | string>)[] }
  score: Record<string, unknown>
}
interface Field {
  event_name: string | null
  field: string
  present: number
  total: number
}

const START = Date.parse('2026-11-20T10:17:00.000Z')
const RANGE = `from=${isoTime(START - DAY - HOUR)}&to=${isoTime(START + HOUR)}`

/** The overview in the form of the model; what was never counted above zero is left out on both sides. */
function reported(overview: Overview, fields: readonly Field[]): Model {
  const presence = <T>(part: { total: number } & Record<string, Presence>, names: readonly string[]) =>
    Object.fromEntries([['total', part.total], ...names.map((name) => [name, part[name]?.present])]) as T
  return {
    total_events: overview.total_events,
    events: new Map(overview.events.map(({ event_name, total }) => [event_name, total])),
    tags: new Map(
      overview.tags.map(({ tag_key, executions, success, failure, timeout, exception }) => [
        tag_key,
        { executions, success, failure, timeout, exception },
      ]),
    ),
    userData: presence(overview.user_data, ['email', 'phone', 'address', 'first_name', 'last_name', 'city', 'country']),
    ecommerce: presence(overview.ecommerce, ['value', 'currency', 'transaction_id', 'items']),
    ...reportedConsent(overview),
    identifiers: presences(overview.identifiers),
    validity: presences(overview.validity),
    responses: reportedResponses(overview),
    fields: reportedFields(fields),
  }
}

function reportedConsent({ consent }: Overview): Pick<Model, 'consent' | 'denied'> {
  const { total, dma, never_updated, tags, ...purposes } = consent
  const classes = Object.entries(purposes).flatMap(([purpose, { granted, denied, absent }]) => {
    assert.equal(granted + denied + absent, total)
    return [[`${purpose}_granted`, granted] as const, [`${purpose}_denied`, denied] as const]
  })
  const updates = [['never_updated', never_updated.present] as const, ['update_known', never_updated.total] as const]
  const counts = [['total', total] as const, ['dma', dma] as const, ...classes, ...updates]
  const ofTags = tags.flatMap(({ tag_key, ad_storage_denied, analytics_storage_denied }) => [
    [`${tag_key} ad_storage`, ad_storage_denied] as const,
    [`${tag_key} analytics_storage`, analytics_storage_denied] as const,
  ])
  return { consent: aboveZero(counts), denied: aboveZero(ofTags) }
}

function reportedResponses({ responses }: Overview): Model['responses'] {
  const counts = responses.tags.flatMap(({ tag_key, total, ...classes }) =>
    Object.entries(classes).map(([name, count]) => [`${tag_key} ${name}`, Number(count)] as const),
  )
  assert.equal(
    responses.total,
    counts.reduce((sum, [, count]) => sum + count, 0),
  )
  return aboveZero(counts)
}

const reportedFields = (fields: readonly Field[]) =>
  aboveZero(
    fields.flatMap(({ event_name, field, present, total }) => [
      [`${event_name ?? ''} ${field} present`, present] as const,
      [`${event_name ?? ''} ${field} total`, total] as const,
    ]),
  )

const presences = ({ total, ...fields }: { total: number } & Record<string, Presence>) =>
  aboveZero([['total', total], ...Object.entries(fields).map(([name, { present }]) => [name, present] as const)])

const aboveZero = (counts: readonly (readonly [string, number])[]) => new Map(counts.filter(([, count]) => count > 0))

function withoutZeros(model: Model): Model {
  return {
    ...model,
    events: new Map([...model.events].filter(([, count]) => count > 0)),
    tags: new Map([...model.tags].filter(([, tag]) => Object.values(tag).some((count) => count > 0))),
  }
}

async function overviewOf(api: TestService, site: SiteKey): Promise<Overview> {
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?${RANGE}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Overview>()
}

async function fieldsOf(api: TestService, site: SiteKey): Promise<Field[]> {
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/fields?${RANGE}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ fields: Field[] }>().fields
}

/** What must not change when minutes become days: all but the window's ends, and the last hour, which minutes alone hold. */
function settled({ score: { recent, ...score }, ...overview }: Overview) {
  return { ...overview, score, from: '', to: '' }
}

async function compact(api: TestService, now: number): Promise<void> {
  await rollUpAll(api.service.store, now)
  await applyRetention(api.service.store, { minuteDays: 7, hourDays: 400 }, now, () => true)
}

testPerEngine(
  'whatever valid payloads are sent, reports equal a plain model, before and after compaction',
  async (engine, t) => {
    const clock = new TestClock(START)
    const api = await startTestService(t, clock, await placeFor(engine, t))
    const client = await api.newClient()
    await fc.assert(
      fc.asyncProperty(
        payloads(START - DAY + MINUTE, START),
        fc.constantFrom('UTC', 'Asia/Kolkata'),
        async (sent, timezone) => {
          clock.set(START)
          const site = await api.newSite(client, { timezone })
          const answers = await Promise.all(sent.map((payload) => api.ingest(site, payload)))
          for (const answer of answers) assert.equal(answer.status, 200, answer.text)
          await api.service.ingest.flush()
          const expected = withoutZeros(modelOf(sent))
          const fresh = await overviewOf(api, site)
          const freshFields = await fieldsOf(api, site)
          assert.deepEqual(withoutZeros(reported(fresh, freshFields)), expected)

          clock.set(START + 9 * DAY)
          await compact(api, clock.now())
          const minutes = await api.service.store.read
            .selectFrom(countsIn(api.service.store.read, 'event_rollups'))
            .select('bucket')
            .where('grain', '=', 60)
            .execute()
          assert.deepEqual(minutes, [])
          const compacted = await overviewOf(api, site)
          assert.deepEqual(settled(compacted), settled(fresh))
          assert.deepEqual(await fieldsOf(api, site), freshFields)
        },
      ),
      { numRuns: amount(engine === sqlite ? 10 : 5, 100), seed: 20_261_120 },
    )
  },
  enginesInTurn,
)
