import type { TestContext } from 'node:test'
import { Alerts, type AlertsOptions } from '../../src/alerts/alerts.ts'
import { noteDelivered } from '../../src/alerts/write-transitions.ts'
import { MINUTE } from '../../src/lib/index.ts'
import type { AlertMessage, ChannelKey } from '../../src/notifications/index.ts'
import type { ProbeOutcome, ProbeType } from '../../src/probes/index.ts'
import type { AlertRow, ProbeRow, SiteRow, Store } from '../../src/store/index.ts'
import { newClock, type TestClock } from '../../testkit/clock.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { openNode, type ProbeNode, runDue, typeOf } from '../probes/support.ts'

/** `u` is an ok that judged nothing. */
const STATUSES = { o: 'ok', w: 'warning', c: 'critical', e: 'error', u: 'ok' } as const
type Letter = keyof typeof STATUSES

export interface Watch {
  clock: TestClock
  node: ProbeNode
  alerts: Alerts
  site: SiteRow
  probe: ProbeRow
  /** Runs all probes once for each letter, a minute apart; all find the status that the letter stands for. */
  find: (letters: string) => Promise<void>
  /** One round of reminders, of what silences held back, and of what is to be closed, by probes that run in time. */
  upkeep: () => Promise<void>
}

interface WatchOptions {
  /** Whether what is written reaches people at once; true by default. */
  delivers?: boolean
  /** Whose runs decide instead of `find`'s letters. */
  type?: ProbeType | readonly ProbeType[]
}

/** A node with one site and one probe whose results the test decides. People are reached at the global webhook. */
export async function watch(
  t: TestContext,
  store: Store,
  probe: Partial<ProbeRow> = {},
  { delivers = true, type: given, ...options }: Partial<AlertsOptions> & WatchOptions = {},
): Promise<Watch> {
  const clock = newClock()
  let found: Letter = 'o'
  const type = given ?? typeOf(async () => outcomeOf(found))
  const site = await insertSite(store)
  const channelSettings = { globalWebhook: 'https://hooks.example/all', isEmailOn: true }
  const node = await openNode(t, store, clock, [type].flat(), {
    onResults: (trx, written) => alerts.onResults(trx, written),
  })
  const alerts: Alerts = new Alerts({
    store,
    clock,
    leases: node.leases,
    channelSettings,
    keyEvents: ['purchase', 'refund'],
    resultDays: 90,
    onError: (error, what) => node.errors.push(`${what}: ${error.message}`),
    ...options,
  })
  t.after(() => alerts.stop())
  const row = await insertProbe(store, site.id, probe)
  const deliver = async () => {
    if (delivers) await deliverAll(store, clock.now())
  }
  return {
    clock,
    node,
    alerts,
    site,
    probe: row,
    find: async (letters) => {
      for (const letter of letters) {
        found = letter in STATUSES ? (letter as Letter) : 'o'
        clock.advance(MINUTE)
        await store.write.updateTable('probes').set({ next_run_at: clock.now() }).where('is_active', '=', 1).execute()
        await runDue(node)
        await deliver()
      }
    },
    upkeep: async () => {
      await store.write
        .updateTable('probes')
        .set({ next_run_at: clock.now() + MINUTE })
        .execute()
      for (const loop of alerts.loops) await loop.tick()
      await deliver()
    },
  }
}

/** Everything in the outbox reaches its people, as a sender would write it down. */
export async function deliverAll(store: Store, now: number): Promise<void> {
  const pending = await store.write.selectFrom('deliveries').selectAll().where('state', '=', 'pending').execute()
  await store.write
    .updateTable('deliveries')
    .set({ state: 'delivered', delivered_at: now })
    .where('state', '=', 'pending')
    .execute()
  for (const { alert_id, kind, channel } of pending) {
    if (alert_id === null) continue
    const message = { alertId: alert_id, kind, channel: channel as ChannelKey, service: 'webhook' as const, at: now }
    await store.batch(noteDelivered(store)([message]))
  }
}

const outcomeOf = (letter: Letter): ProbeOutcome => ({
  status: STATUSES[letter],
  message: `It is ${STATUSES[letter]}`,
  details: {},
  ...(letter === 'u' ? { reason: 'no_data' } : {}),
})

export const alertRows = (store: Store): Promise<AlertRow[]> =>
  store.write.selectFrom('alerts').selectAll().orderBy('id').execute()

export const timeline = async (store: Store, alertId: string): Promise<string[]> => {
  const rows = await store.write
    .selectFrom('alert_events')
    .select('kind')
    .where('alert_id', '=', alertId)
    .orderBy('id')
    .execute()
  return rows.map(({ kind }) => kind)
}

/** The messages in the outbox, in their order. */
export async function outbox(store: Store): Promise<(AlertMessage & { channel: string })[]> {
  const rows = await store.write.selectFrom('deliveries').select(['channel', 'message']).orderBy('id').execute()
  return rows.map(({ channel, message }) => ({ channel, ...(JSON.parse(message) as AlertMessage) }))
}
