import type { TestContext } from 'node:test'
import { Alerts } from '../../../src/alerts/alerts.ts'
import { noteDelivered } from '../../../src/alerts/write-transitions.ts'
import { MINUTE, SECOND } from '../../../src/lib/index.ts'
import type { DeletedSite } from '../../../src/management/index.ts'
import { removeSite } from '../../../src/management/sites.ts'
import type { Message, MessageGroup, SendOrder, SendOutcome } from '../../../src/notifications/index.ts'
import { removeOfSites } from '../../../src/probes/api/changes.ts'
import type { ProbeOutcome, ResultStatus } from '../../../src/probes/index.ts'
import { registryOf } from '../../../src/probes/registry.ts'
import type {
  ClientChannelRow,
  IncidentRow,
  ProbeRow,
  SiteRow,
  Store,
  Tables,
  Transaction,
} from '../../../src/store/index.ts'
import { newClock, TestClock } from '../../../testkit/clock.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import type { Random } from '../../../testkit/random.ts'
import { insertClient, insertSite } from '../../../testkit/sites.ts'
import { openNode as openSender } from '../../notifications/support.ts'
import { openNode, runDue, typeOf } from '../../probes/support.ts'
import { Reader } from './reader.ts'
import { newLog } from './shared.ts'

/** What answers, what is estimated from counts, and what explains others. */
const TYPES = ['http_health', 'tag_server_infra', 'cmp_check', 'push', 'tag_failure_rate'] as const
const GATHERED_MS = 11 * SECOND

const SLACK = 'https://hooks.slack.com/services/T0/B0/x'
export const PAGER = 'pagerduty+https://events.pagerduty.com/v2/enqueue#R0123456789'
const EMAIL = 'ops@client.example'
const TEAMS = 'https://acme.webhook.office.com/webhookb2/x'
const OPERATOR = 'https://hooks.example/all'
/** Of the second client, where there is one. */
export const OTHER = 'https://hooks.slack.com/services/T1/B1/x'
/** The first and the third person on call; nothing reaches the second. */
const PEOPLE = ['ada@client.example', null, 'cyd@client.example']

/** Two sites with five probes each, of one client or of two, and their channels, each with a reader: all that happens there, minute by minute. */
export type Story = Awaited<ReturnType<typeof beginStory>>

/** What something is done to. */
export interface Chosen {
  probe: ProbeRow
  incident: IncidentRow | undefined
  siteId: string
  ends_at: string
}

/** Something that people do, or that happens to them. */
export type Act = readonly [what: string, run: (story: Story, chosen: Chosen, random: Random) => Promise<unknown>]

/** One more node on the same database, whose clock is ahead by so much. */
export interface NodeAt {
  store: Store
  aheadMs: number
}

/** A node from its start to its death. */
interface Life {
  isOver: boolean
  /** Addresses that got a message of this node again, from another. */
  repeated: Set<string>
}

/** What another clock shows, ahead of it. */
class AheadClock extends TestClock {
  readonly #of: TestClock
  readonly #ms: number

  constructor(of: TestClock, ms: number) {
    super(0)
    this.#of = of
    this.#ms = ms
  }

  override now(): number {
    return this.#of.now() + this.#ms
  }

  override advance(ms: number): void {
    this.#of.advance(ms)
  }

  override set(now: number | string): void {
    this.#of.set((typeof now === 'string' ? Date.parse(now) : now) - this.#ms)
  }
}

export async function beginStory(t: TestContext, store: Store, random: Random, others: readonly NodeAt[] = []) {
  const clock = newClock()
  let ids = 0
  const fixedId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const { log, wrong, note, blame } = newLog(clock)

  const wishes = {
    reminder_minutes: random.pick([null, 30, 120]),
    notify_escalated: Number(random.chance(0.8)),
    notify_resolved: Number(random.chance(0.9)),
    ...(random.chance(0.4) ? { quiet_from: '12:00', quiet_to: '14:00' } : {}),
  }
  const client = await insertClient(store, { id: fixedId(), chat_webhook: SLACK, email: EMAIL, ...wishes })
  const other = random.chance(0.4)
    ? await insertClient(store, { id: fixedId(), chat_webhook: OTHER, ...wishes })
    : client
  /** A channel of the first client's own, under an id of the story. */
  const addChannel = (channel: Pick<ClientChannelRow, 'kind' | 'name' | 'address' | 'minimum_severity'>) =>
    store.write
      .insertInto('client_channels')
      .values({
        ...{ ...channel, id: fixedId(), client_id: client.id, is_active: 1, created_at: 0 },
        warnings_after_minutes: channel.kind === 'chat' ? random.pick([null, 0, 60]) : null,
      })
      .execute()
  const least = random.pick(['warning', 'critical'])
  await addChannel({ kind: 'pagerduty', name: 'Pager', address: PAGER, minimum_severity: 'warning' })
  await addChannel({ kind: 'chat', name: 'Teams', address: TEAMS, minimum_severity: least })
  const people = random.chance(0.6)
    ? PEOPLE.map((email, n) => ({ id: fixedId(), name: `Person ${n}`, email, channelId: null }))
    : []
  if (people.length > 0) {
    await store.write
      .insertInto('on_call_rotations')
      .values({
        client_id: client.id,
        people: JSON.stringify(people),
        people_count: people.length,
        ...{ timezone: 'UTC', handover_weekday: 5, handover_time: '15:00', starts_on: '2026-11-20' },
        escalate_after_minutes: random.pick([null, 15, 60]),
      })
      .execute()
  }
  const wants = { wantsEnds: client.notify_resolved === 1, wantsEscalations: client.notify_escalated === 1 }
  const all = { ...wants, isPerson: false, takesWarnings: true, mayJoin: false }
  const readers = new Map([
    [SLACK, new Reader({ ...all, isPerson: true })],
    [EMAIL, new Reader({ ...all, isPerson: true })],
    [PAGER, new Reader({ ...all, isKeeper: true })],
    [TEAMS, new Reader({ ...all, takesWarnings: least === 'warning' })],
    [OPERATOR, new Reader({ ...all, isPrompt: true })],
    [OTHER, new Reader({ ...all, isPerson: true })],
    ...PEOPLE.flatMap((email): [string, Reader][] =>
      email === null ? [] : [[email, new Reader({ ...all, mayJoin: true })]],
    ),
  ])
  const failing = new Set<string>()
  /** Of the first client. */
  const addresses = { chat_webhook: SLACK, email: EMAIL }
  /** Addresses that a channel had before it got another. */
  const former = new Set<string>()
  /** They fail until someone mends their address. */
  const broken = new Set<string>()
  const seen = new Map<string, { words: string; by: Life }>()
  /** Where a message came that had come before. */
  const repeats: string[] = []
  /** By address, the message that came last. */
  const latest = new Map<string, { by: Life; message: Message | MessageGroup }>()
  /** Called when a message has reached its reader, and before the sender knows that; what it returns is awaited. */
  const afterReading: { run: ((service: number) => Promise<void>) | null } = { run: null }
  const sending = async (service: number, life: Life, order: SendOrder): Promise<SendOutcome> => {
    // The objects of a dead node go on in this process, on channels other than the one on which it died.
    if (life.isOver) return new Promise(() => undefined)
    const outcome = send(order, life)
    if (outcome.kind === 'delivered') await afterReading.run?.(service)
    return outcome
  }
  const send = ({ address, message, idempotencyKey }: SendOrder, by: Life): SendOutcome => {
    // The sender waits for the pace of a service by the real clock, unless it has passed on this one.
    clock.advance(2 * SECOND)
    if (failing.has(address)) return { kind: 'passing', error: 'status 503' }
    if (broken.has(address)) return { kind: 'channel_broken', error: 'status 404' }
    note(`  → ${address.slice(0, 24)}: ${inWords(message)}`)
    // As the documentation asks of a receiver, it ignores what it has had.
    const before = seen.get(`${address} ${idempotencyKey}`)
    seen.set(`${address} ${idempotencyKey}`, { words: inWords(message), by })
    latest.set(address, { by, message })
    if (before !== undefined) {
      repeats.push(address)
      // A node that dies may have sent one message on each channel without having noted it.
      if (!before.by.isOver || before.by.repeated.has(address))
        blame(`${address}: it was sent before, and that was noted`)
      before.by.repeated.add(address)
      if (before.words !== inWords(message)) blame(`${address}: another message under the same key`)
      return { kind: 'delivered' }
    }
    const reader = readers.get(address)
    if (reader === undefined) blame(`no one reads ${address}`)
    for (const what of reader?.read(message, clock.now()) ?? []) blame(`${address.slice(0, 24)}: ${what}`)
    const own = address === OTHER ? other : client
    const isOfOther = address !== OPERATOR && clientsIn(message).some((id) => id !== own.id)
    if (isOfOther) blame(`${address} gets what is of another client`)
    return { kind: 'delivered' }
  }

  const found = new Map<string, ResultStatus>()
  const types = TYPES.map((name) =>
    typeOf(
      async ({ probe: { id } }): Promise<ProbeOutcome> => {
        const status = found.get(id) ?? 'ok'
        return { status, message: `${id.slice(-2)} is ${status}`, details: {} }
      },
      { name },
    ),
  )
  const warningsAfterMs = random.pick([0, 0, 20 * MINUTE])
  const channelSettings = { globalWebhook: OPERATOR, isEmailOn: true, warningsAfterMs }
  const places: readonly NodeAt[] = [{ store, aheadMs: 0 }, ...others]
  const start = async ({ store: own, aheadMs }: NodeAt, n: number) => {
    const ownClock = aheadMs === 0 ? clock : new AheadClock(clock, aheadMs)
    const node = await openNode(t, own, ownClock, types, {
      onResults: (trx, results) => alerts.onResults(trx, results),
    })
    const { leases, errors } = node
    const onError = (error: Error, what: string) => errors.push(`${what}: ${error.message}`)
    const alerts: Alerts = new Alerts({
      ...{ store: own, clock: ownClock, leases, channelSettings, keyEvents: [], resultDays: 90, onError },
    })
    t.after(() => alerts.stop())
    const life: Life = { isOver: false, repeated: new Set() }
    const sender = await openSender(t, own, ownClock, (order) => sending(n, life, order), {
      globalWebhook: OPERATOR,
      warningsAfterMs,
      onDelivered: noteDelivered(own),
    })
    const death = Promise.withResolvers<void>()
    const die = () => {
      life.isOver = true
      death.resolve()
    }
    return { node, alerts, sender, death, die }
  }
  const services = await Promise.all(places.map(start))
  const [first] = services
  if (first === undefined) throw new Error('nothing runs')
  const current = () => services[0] ?? first
  const addSite = (client_id: string) => insertSite(store, { id: fixedId(), client_id })
  const sites: [SiteRow, SiteRow] = [await addSite(client.id), await addSite(other.id)]
  /** Under an id of the story, as a probe's id decides when it runs. */
  const addProbe = (siteId: string, probe_type: string) =>
    insertProbe(store, siteId, {
      id: fixedId(),
      probe_type,
      name: probe_type,
      interval_seconds: 300,
      created_at: clock.now(),
      next_run_at: clock.now(),
      failure_threshold: random.pick([1, 1, 2, 3]),
      recovery_threshold: random.pick([1, 1, 2]),
    })
  const addProbes = async ({ id }: SiteRow) => {
    for (const probe_type of TYPES) await addProbe(id, probe_type)
  }
  for (const site of sites) await addProbes(site)

  return {
    ctx: { store, clock, actor: 'ada' },
    ...{
      store,
      clock,
      log,
      wrong,
      note,
      blame,
      sites,
      readers,
      failing,
      addresses,
      broken,
      former,
      found,
      channelSettings,
      addProbe,
    },
    ...{ client, other, people, addChannel },
    /** The incidents of what came last to the address, if its sender may have died before noting that. */
    perhapsUnnoted: (address: string): string[] => {
      const last = latest.get(address)
      return last?.by.isOver === true ? incidentsIn(last.message) : []
    },
    /** Deletes a site, and adds another in its place. */
    replaceSite: async (n: 0 | 1) => {
      const { removeOfSites: removeAlerts } = current().alerts.deletionHooks
      const hooks = {
        removeOfSites: async (trx: Transaction<Tables>, gone: readonly DeletedSite[]) => {
          await removeAlerts(trx, gone)
          await removeOfSites(trx, gone)
        },
        removeOfClient: () => Promise.resolve(),
      }
      await removeSite({ store, clock, actor: 'ada' }, hooks, sites[n].id)
      sites[n] = await addSite(sites[n].client_id)
      await addProbes(sites[n])
    },
    /** As after a kill: what it had claimed is free when it is known to be dead. */
    restart: async (n = 0) => {
      services[n]?.die()
      const place = places[n]
      if (place !== undefined) services[n] = await start(place, n)
    },
    ...{ repeats, afterReading },
    registry: registryOf(types),
    /** What is due, as it does every two seconds. */
    send: async () => {
      const { sender, death } = current()
      await sender.membership.beat()
      await Promise.race([sender.notifications.run(), death.promise])
    },
    /** Everything that a service does in this time, at its beginning. */
    pass: async (ms: number, mayFail = false) => {
      const end = clock.now() + ms
      const running = [...services]
      for (const { node, sender } of running) {
        await node.membership.beat()
        await sender.membership.beat()
      }
      await Promise.all(running.map(({ node }) => runDue(node)))
      await Promise.all(
        running.map(async ({ alerts }) => {
          for (const loop of alerts.loops) await loop.tick()
        }),
      )
      clock.advance(GATHERED_MS)
      await Promise.all(running.map(({ sender, death }) => Promise.race([sender.notifications.run(), death.promise])))
      clock.set(Math.max(end, clock.now()))
      for (const error of running.flatMap(({ node, sender }) => [
        ...node.errors.splice(0),
        ...sender.errors.splice(0),
      ])) {
        const isKnown = error.endsWith('until the address is edited') || error.endsWith('it is run again')
        if (!isKnown && !mayFail) blame(error)
      }
    },
    probes: () =>
      store.write
        .selectFrom('probes')
        .selectAll()
        .orderBy('created_at')
        .orderBy('site_id')
        .orderBy('probe_type')
        .execute(),
    lastingAlerts: () =>
      store.write.selectFrom('alerts').selectAll().where('state', '<>', 'resolved').orderBy('id').execute(),
    incidents: () => store.write.selectFrom('incidents').selectAll().orderBy('id').execute(),
  }
}

const incidentsIn = (message: Message | MessageGroup): string[] => {
  if (message.kind === 'group') return message.messages.flatMap(incidentsIn)
  return 'alert' in message ? [...(message.over ?? []), message].map(({ incident }) => incident?.id ?? '') : []
}

const clientsIn = (message: Message | MessageGroup): string[] =>
  message.kind === 'group'
    ? message.messages.flatMap(clientsIn)
    : 'client' in message && message.client !== null
      ? [message.client.id]
      : []

function inWords(message: Message | MessageGroup): string {
  if (message.kind === 'group') return message.messages.map(inWords).join(' + ')
  if (!('alert' in message)) return message.kind
  const { kind, alert, incident, over = [] } = message
  const also = over.length === 0 ? '' : `, over: ${over.map(inWords).join(' + ')}`
  return `${kind} ${alert.severity} “${alert.title}” ${incident?.id.slice(9, 13)} ${incident?.note ?? ''}${also}`
}
