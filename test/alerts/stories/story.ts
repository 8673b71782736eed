import type { TestContext } from 'node:test'
import { Alerts } from '../../../src/alerts/alerts.ts'
import { noteDelivered } from '../../../src/alerts/write-transitions.ts'
import { isoTime, MINUTE, SECOND } from '../../../src/lib/index.ts'
import type { Message, MessageGroup, SendOrder, SendOutcome } from '../../../src/notifications/index.ts'
import type { ProbeOutcome, ResultStatus } from '../../../src/probes/index.ts'
import { registryOf } from '../../../src/probes/registry.ts'
import type { Store } from '../../../src/store/index.ts'
import { newClock } from '../../../testkit/clock.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import type { Random } from '../../../testkit/random.ts'
import { insertClient, insertSite } from '../../../testkit/sites.ts'
import { openNode as openSender } from '../../notifications/support.ts'
import { openNode, runDue, typeOf } from '../../probes/support.ts'
import { Reader } from './reader.ts'

/** What answers, what is estimated from counts, and what explains others. */
const TYPES = ['http_health', 'tag_server_infra', 'cmp_check', 'push', 'tag_failure_rate'] as const
const GATHERED_MS = 11 * SECOND

export const SLACK = 'https://hooks.slack.com/services/T0/B0/x'
export const PAGER = 'pagerduty+https://events.pagerduty.com/v2/enqueue#R0123456789'
const EMAIL = 'ops@client.example'
const TEAMS = 'https://acme.webhook.office.com/webhookb2/x'
const OPERATOR = 'https://hooks.example/all'

/** Two sites of one client with five probes each, and five channels, each with a reader: all that happens there, minute by minute. */
export type Story = Awaited<ReturnType<typeof beginStory>>

export async function beginStory(t: TestContext, store: Store, random: Random) {
  const clock = newClock()
  let ids = 0
  const fixedId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const log: string[] = []
  const wrong: string[] = []
  const note = (text: string) => log.push(`${isoTime(clock.now()).slice(8, 16)} ${text}`)
  const blame = (text: string) => {
    note(`!!! ${text}`)
    wrong.push(`${isoTime(clock.now()).slice(8, 16)} ${text}`)
  }

  const client = await insertClient(store, {
    id: fixedId(),
    chat_webhook: SLACK,
    email: EMAIL,
    reminder_minutes: random.pick([null, 30, 120]),
    notify_escalated: Number(random.chance(0.8)),
    notify_resolved: Number(random.chance(0.9)),
  })
  const own = { client_id: client.id, is_active: 1, created_at: 0 }
  await store.write
    .insertInto('client_channels')
    .values([
      { ...own, id: fixedId(), kind: 'pagerduty', name: 'Pager', address: PAGER, minimum_severity: 'warning' },
      { ...own, id: fixedId(), kind: 'chat', name: 'Teams', address: TEAMS, minimum_severity: 'critical' },
    ])
    .execute()
  const wants = { wantsEnds: client.notify_resolved === 1, wantsEscalations: client.notify_escalated === 1 }
  const readers = new Map(
    [SLACK, PAGER, EMAIL, TEAMS, OPERATOR].map((address) => [
      address,
      new Reader({ ...wants, isPerson: address === SLACK || address === EMAIL, takesWarnings: address !== TEAMS }),
    ]),
  )
  const failing = new Set<string>()
  const send = ({ address, message }: SendOrder): SendOutcome => {
    // The sender waits for the pace of a service by the real clock, unless it has passed on this one.
    clock.advance(2 * SECOND)
    if (failing.has(address)) return { kind: 'passing', error: 'status 503' }
    note(`  → ${address.slice(0, 24)}: ${inWords(message)}`)
    for (const what of readers.get(address)?.read(message) ?? []) blame(`${address.slice(0, 24)}: ${what}`)
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
  const node = await openNode(t, store, clock, types, { onResults: (trx, results) => alerts.onResults(trx, results) })
  const onError = (error: Error, what: string) => blame(`${what}: ${error.message}`)
  const { leases } = node
  const alerts: Alerts = new Alerts({ store, clock, leases, channelSettings, keyEvents: [], resultDays: 90, onError })
  t.after(() => alerts.stop())
  const sender = await openSender(t, store, clock, send, {
    globalWebhook: OPERATOR,
    warningsAfterMs,
    onDelivered: noteDelivered(store),
  })
  const sites = [
    await insertSite(store, { id: fixedId(), client_id: client.id }),
    await insertSite(store, { id: fixedId(), client_id: client.id }),
  ] as const
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
  for (const { id } of sites) for (const probe_type of TYPES) await addProbe(id, probe_type)

  return {
    ctx: { store, clock, actor: 'ada' },
    ...{ store, clock, log, wrong, note, blame, sites, readers, failing, found, channelSettings, addProbe },
    registry: registryOf(types),
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

function inWords(message: Message | MessageGroup): string {
  if (message.kind === 'group') return message.messages.map(inWords).join(' + ')
  if (!('alert' in message)) return message.kind
  const { kind, alert, incident, over = [] } = message
  const also = over.length === 0 ? '' : `, over: ${over.map(inWords).join(' + ')}`
  return `${kind} ${alert.severity} “${alert.title}” ${incident?.id.slice(9, 13)} ${incident?.note ?? ''}${also}`
}
