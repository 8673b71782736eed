import type { TestContext } from 'node:test'
import { Alerts } from '../../../src/alerts/alerts.ts'
import { noteDelivered } from '../../../src/alerts/write-transitions.ts'
import { DAY, floorTo, MINUTE, SECOND } from '../../../src/lib/index.ts'
import type { DeletedSite } from '../../../src/management/index.ts'
import { removeSite } from '../../../src/management/sites.ts'
import type { Message, MessageGroup, SendOrder, SendOutcome } from '../../../src/notifications/index.ts'
import type { Severity } from '../../../src/notifications/message.ts'
import { removeOfSites } from '../../../src/probes/api/changes.ts'
import type { ProbeOutcome } from '../../../src/probes/index.ts'
import type { ClientRow, SiteRow, Store, Tables, Transaction } from '../../../src/store/index.ts'
import { newClock } from '../../../testkit/clock.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import type { Random } from '../../../testkit/random.ts'
import { insertClient, insertSite } from '../../../testkit/sites.ts'
import { openNode as openSender } from '../../notifications/support.ts'
import { openNode, runDue, typeOf } from '../../probes/support.ts'
import { Reader } from './reader.ts'
import { newLog } from './shared.ts'

/** Clients' names; the names of their sites and the words of their alerts contain them, and no one else may read them. */
export const NAMES = ['alder', 'birch', 'cedar', 'dogwood'] as const
const TAG = 'Meta CAPI'
const GATHERED_MS = 11 * SECOND

type Status = 'ok' | 'warning' | 'critical'

/** What is found on a site: its tag of the vendor, and its server. */
export interface Mood {
  tag: Status
  server: Status
}

/** Four clients with two sites each, all with a tag of one vendor, a channel for each client and the operator's. */
export type VendorStory = Awaited<ReturnType<typeof beginVendorStory>>

export async function beginVendorStory(t: TestContext, store: Store, random: Random) {
  const clock = newClock()
  let ids = 0
  const fixedId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const { log, wrong, note, blame } = newLog(clock)

  const OPERATOR = random.pick(['https://hooks.example/all', 'https://hooks.slack.com/services/T9/B9/x'])
  const all = { wantsEnds: true, wantsEscalations: true, isPerson: true, takesWarnings: true }
  // What the vendor's message covers is not said to the operator again.
  const operator = new Reader({ ...all, wantsEscalations: false, mayJoin: true })
  /** What the operator believes of vendors' incidents. */
  const vendors = new Map<string, Severity | 'over'>()
  const clients = new Map<string, ClientRow>()
  const readers = new Map<string, Reader>()
  const reminder_minutes = random.pick([null, 60])
  for (const name of NAMES) {
    const chat_webhook = `https://hooks.slack.com/services/T0/${name}/x`
    clients.set(name, await insertClient(store, { id: fixedId(), name, chat_webhook, reminder_minutes }))
    readers.set(chat_webhook, new Reader({ ...all, mayJoin: false }))
  }

  const readOperators = (message: Message | MessageGroup): void => {
    if (message.kind === 'vendor_opened' || message.kind === 'vendor_resolved') {
      const { id, title, severity } = message.incident
      const before = vendors.get(id) ?? 'over'
      const next = message.kind === 'vendor_opened' ? severity : 'over'
      if (next === before || (before === 'critical' && next === 'warning'))
        blame(`operator: ${message.kind} ${severity} “${title}” when it was known to be ${before}`)
      vendors.set(id, next)
      return
    }
    for (const what of operator.read(message, clock.now())) blame(`operator: ${what}`)
  }
  const send = ({ address, message }: SendOrder): SendOutcome => {
    clock.advance(2 * SECOND)
    note(`  → ${address.slice(8, 46)}: ${inWords(message)}`)
    if (address === OPERATOR) readOperators(message)
    else {
      for (const what of readers.get(address)?.read(message, clock.now()) ?? ['no one reads it']) {
        blame(`${address}: ${what}`)
      }
      const text = JSON.stringify(message).replaceAll(address, '')
      for (const name of NAMES) {
        if (!address.includes(name) && text.includes(name)) blame(`${address} reads of ${name}`)
      }
    }
    return { kind: 'delivered' }
  }

  const sites: SiteRow[] = []
  const moods = new Map<string, Mood>()
  const moodOf = (siteId: string): Mood => moods.get(siteId) ?? { tag: 'ok', server: 'ok' }
  const types = [
    typeOf(
      async ({ site: { id, name } }): Promise<ProbeOutcome> => {
        const status = moodOf(id).tag
        const subject = { tag_key: TAG }
        const details = { findings: [{ subject }] }
        const message = `${TAG} fails on ${name}`
        const findings = status === 'ok' ? [] : [{ subject, status, message, startedAt: null, details }]
        return { status, message, details: status === 'ok' ? {} : details, findings }
      },
      { name: 'tag_failure_rate' },
    ),
    typeOf(
      async ({ site: { id, name } }): Promise<ProbeOutcome> => {
        const status = moodOf(id).server
        return { status, message: `server of ${name} is ${status}`, details: {} }
      },
      { name: 'http_health' },
    ),
  ]
  const addSite = async (name: string, n: number) => {
    const client_id = clients.get(name)?.id ?? ''
    const site = await insertSite(store, { id: fixedId(), client_id, name: `${name}-${n}` })
    sites.push(site)
    const names = { day: floorTo(clock.now(), DAY), kind: 'tag', name: TAG }
    await store.write
      .insertInto('daily_names')
      .values({ site_no: site.site_no, ...names })
      .execute()
    for (const type of types) {
      await insertProbe(store, site.id, {
        ...{ id: fixedId(), probe_type: type.name, name: `${type.name} of ${site.name}`, interval_seconds: 300 },
        ...{ created_at: clock.now(), next_run_at: clock.now(), failure_threshold: random.pick([1, 1, 2]) },
      })
    }
  }
  for (const name of NAMES) for (const n of [1, 2]) await addSite(name, n)

  const warningsAfterMs = random.pick([0, 20 * MINUTE])
  const channelSettings = { globalWebhook: OPERATOR, isEmailOn: false, warningsAfterMs }
  const onError = (error: Error, what: string) => blame(`${what}: ${error.message}`)
  const node = await openNode(t, store, clock, types, { onResults: (trx, results) => alerts.onResults(trx, results) })
  const { leases } = node
  const alerts: Alerts = new Alerts({ store, clock, leases, channelSettings, keyEvents: [], resultDays: 90, onError })
  t.after(() => alerts.stop())
  const sender = await openSender(t, store, clock, send, {
    globalWebhook: OPERATOR,
    warningsAfterMs,
    onDelivered: noteDelivered(store),
  })

  return {
    ctx: { store, clock, actor: 'ada' },
    ...{ store, clock, log, wrong, note, blame, clients, sites, moods, moodOf, readers, operator, vendors },
    channelSettings,
    deleteSite: async (id: string) => {
      const hooks = {
        removeOfSites: async (trx: Transaction<Tables>, gone: readonly DeletedSite[]) => {
          await alerts.deletionHooks.removeOfSites(trx, gone)
          await removeOfSites(trx, gone)
        },
        removeOfClient: () => Promise.resolve(),
      }
      await removeSite({ store, clock, actor: 'ada' }, hooks, id)
      sites.splice(
        sites.findIndex((site) => site.id === id),
        1,
      )
    },
    /** Everything that a service does in this time, at its beginning. */
    pass: async (ms: number) => {
      const end = clock.now() + ms
      await node.membership.beat()
      await sender.membership.beat()
      await runDue(node)
      for (const loop of alerts.loops) await loop.tick()
      clock.advance(GATHERED_MS)
      await sender.notifications.run()
      clock.set(Math.max(end, clock.now()))
      for (const error of [...node.errors.splice(0), ...sender.errors.splice(0)]) blame(error)
    },
    lastingAlerts: () =>
      store.write.selectFrom('alerts').selectAll().where('state', '<>', 'resolved').orderBy('id').execute(),
    incidents: () => store.write.selectFrom('incidents').selectAll().orderBy('id').execute(),
  }
}

function inWords(message: Message | MessageGroup): string {
  if (message.kind === 'group') return message.messages.map(inWords).join(' + ')
  if (message.kind === 'vendor_opened' || message.kind === 'vendor_resolved')
    return `${message.kind} “${message.incident.title}” ${message.incident.id.slice(9, 13)}`
  if (!('alert' in message)) return message.kind
  const { kind, alert, incident, over = [] } = message
  const also = over.length === 0 ? '' : `, over: ${over.map(inWords).join(' + ')}`
  return `${kind} ${alert.severity} “${alert.title}” ${incident?.id.slice(9, 13)} ${incident?.note ?? ''}${also}`
}
