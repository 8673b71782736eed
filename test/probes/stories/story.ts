import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Alerts } from '../../../src/alerts/alerts.ts'
import { Listening } from '../../../src/cluster/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { PROBE_TYPES } from '../../../src/probes/registry.ts'
import type { SiteKey } from '../../../testkit/api.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { rollUpAll } from '../../../testkit/counts.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import type { Random } from '../../../testkit/random.ts'
import { startTestService } from '../../../testkit/service.ts'
import { count } from '../../analytics/support.ts'
import { openNode, runDue } from '../support.ts'
import { Books } from './books.ts'
import { type Act, type Sending, type ShopOptions, shopFrom } from './shop.ts'

/** Those that judge what a site sent by its own past. */
const JUDGES: readonly string[] = [
  ...['data_volume', 'data_freshness', 'tag_failure_rate', 'vendor_status', 'tag_latency', 'tag_missing'],
  ...['user_data_quality', 'ecommerce_quality', 'consent_signals', 'duplicates', 'value_quality', 'identifier_quality'],
]
const STEP = 5 * MINUTE

/** What a run said. */
export interface Said {
  probe_type: string
  status: string
  reason: string | null
  message: string
  details: string
  executed_at: number
}

export interface StoryOptions {
  start: number
  /** How much of its past is known. */
  pastMs: number
  shop: ShopOptions
  act: Act
  /** When it happens. */
  from: number
  to: number
  /** The types of probes that run; all by default. */
  judges?: readonly string[]
  /** How far one pass goes: five minutes by default. */
  step?: number
}

/** A shop that sends, through the front door, and all probes that judge its counts, on a clock that the test moves. */
export async function beginStory(t: TestContext, random: Random, options: StoryOptions) {
  const { start, pastMs, shop, act, from, to, judges = JUDGES, step = STEP } = options
  const clock = new TestClock(start)
  const api = await startTestService(t, clock)
  // Its probes would run by themselves while payloads are on their way.
  await api.service.worker?.stop()
  const { store, ingest, membership } = api.service
  let { listening } = api.service
  const types = PROBE_TYPES.filter(({ name }) => judges.includes(name))
  const node = await openNode(t, store, clock, types, { onResults: (trx, results) => alerts.onResults(trx, results) })
  const channelSettings = { globalWebhook: null, isEmailOn: false, warningsAfterMs: 0 }
  const onError = (error: Error, what: string) => assert.fail(`${what}: ${error.message}`)
  const { leases } = node
  const alerts: Alerts = new Alerts({ store, clock, leases, channelSettings, keyEvents: [], resultDays: 90, onError })
  t.after(() => alerts.stop())

  let site: SiteKey = await api.newSite(await api.newClient(), { timezone: shop.timezone })
  await store.write
    .updateTable('sites')
    .set({ created_at: start - pastMs - HOUR })
    .execute()
  const row = await store.read.selectFrom('sites').selectAll().executeTakeFirstOrThrow()
  const books = new Books()
  const past = Array.from(shopFrom(start - pastMs, start, shop, random), ({ payload }) => payload)
  for (const payload of past) if (payload.timestamp_ms >= start - 2 * DAY) books.enter(payload, payload.timestamp_ms)
  await count(store, row, past)
  await rollUpAll(store, start)
  for (const { name } of types) {
    await insertProbe(store, site.id, { probe_type: name, name, interval_seconds: 300, next_run_at: start })
  }

  let isHere = false
  const begin = async () => {
    isHere = true
    if (act.here === 'the site is switched off') await api.ask('PATCH', `/api/sites/${site.id}`, { is_active: false })
    if (act.here === 'the key is revoked') await api.ask('POST', `/api/sites/${site.id}/keys/${site.id}/revoke`)
    if (act.here === 'no process runs') await listening?.stop()
  }
  const end = async () => {
    isHere = false
    if (act.here === 'the site is switched off') await api.ask('PATCH', `/api/sites/${site.id}`, { is_active: true })
    if (act.here === 'the key is revoked') {
      site = {
        ...site,
        ...(await api.ask<{ ingest_key: string }>('POST', `/api/sites/${site.id}/keys`, { name: 'next' })),
        id: site.id,
      }
    }
    if (act.here !== 'no process runs') return
    // As a process that has just started does, it finds that none took events.
    const next = new Listening({ store, clock, trouble: () => null, onError })
    listening = next
    t.after(() => next.stop())
    await next.start()
  }

  let waiting: Sending[] = []
  const send = async (until: number) => {
    const due = waiting.filter(({ at }) => at < until)
    waiting = waiting.filter(({ at }) => at >= until)
    clock.set(until)
    for (const { payload } of due) {
      const { status } = await api.ingest(site, payload)
      if (status === 200) books.enter(payload, until)
    }
  }
  return {
    ...{ store, clock, books, options, api },
    site: () => site,
    /** Later requests come with this key. */
    useKey: (ingest_key: string) => {
      site = { ...site, ingest_key }
    },
    /** Lets five minutes pass, and returns what the probes say after them. */
    pass: async (): Promise<Said[]> => {
      const now = clock.now()
      if (now % HOUR === 0) {
        for (const sending of shopFrom(now, now + HOUR, shop, random)) {
          waiting.push(...(sending.at >= from && sending.at < to ? act.change(sending, random) : [sending]))
        }
      }
      for (let minute = now + MINUTE; minute <= now + step; minute += MINUTE) {
        const isDue = act.here !== undefined && minute > from && minute <= to
        if (isDue !== isHere) await (isDue ? begin() : end())
        await send(minute)
      }
      if (isHere && act.here === 'no process runs') return []
      await ingest.flush()
      for (const loop of ingest.loops) await loop.tick()
      await Promise.all([membership.beat(), node.membership.beat(), listening?.loop.tick()])
      if (clock.now() % HOUR === 0) await rollUpAll(store, clock.now())
      await runDue(node)
      assert.deepEqual(node.errors, [])
      return store.write
        .selectFrom('probe_results')
        .innerJoin('probes', 'probes.id', 'probe_results.probe_id')
        .select(['probe_type', 'status', 'reason', 'message', 'details', 'executed_at'])
        .where('executed_at', '>', now)
        .orderBy('probe_results.id')
        .execute()
    },
    alerts: () => store.write.selectFrom('alerts').selectAll().orderBy('id').execute(),
  }
}

export type Story = Awaited<ReturnType<typeof beginStory>>

export const timeIn = (at: number): string => isoTime(at).slice(5, 16)
