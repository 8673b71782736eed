import { randomBytes } from 'node:crypto'
import { noteDelivered } from '../../alerts/index.ts'
import { forgetListening, Leases, Membership } from '../../cluster/index.ts'
import type { Config } from '../../config.ts'
import { type Clock, Closers, SECOND } from '../../lib/index.ts'
import { createChatTransport, Notifications, type Transport } from '../../notifications/index.ts'
import { createOutbound } from '../../outbound/index.ts'
import { pagesInThisThread } from '../../probes/index.ts'
import type { Store } from '../../store/index.ts'
import { VERSION } from '../../version.ts'
import { withProgress } from '../progress.ts'
import { Chat } from './chat.ts'
import { type Incident, releasesAround, versionsFrom } from './incidents.ts'
import { actionsOf, OWN_CHAT_ONLY } from './people.ts'
import { ensureDemoProbes, REGISTRY } from './probes.ts'
import { plannedRuns, type ReplayOptions, replay, SetClock } from './replay.ts'
import { ACTOR, chatKeyOf, clientsOf, type DemoSite, leadToChat, leadToTagServer, tagServerPortOf } from './sites.ts'
import { allowingTagServer, startTagServer, type TagServer } from './tag-server.ts'

export interface ResultsOptions {
  store: Store
  config: Config
  clock: Clock
  sites: readonly DemoSite[]
  incidents: readonly Incident[]
  /** Beginning and end of the history, epoch ms. */
  earliest: number
  start: number
}

export interface Results {
  /** Listens, and serves the versions as of `start`. */
  tagServer: TagServer
  /** Answers at the address of `tagServer`. */
  chat: Chat
  probes: number
  results: number
}

/** Creates the probes with their target, and their results where they are missing. Needs the counts of the history. */
export async function writeResultHistory(options: ResultsOptions): Promise<Results> {
  const { store, clock, sites, incidents, earliest, start } = options
  const from = Math.max(earliest, await lastResultAt(store))
  const releases = releasesAround(start, incidents)
  const versionAt = await versionsFrom(store, sites, releases, from)
  const replayClock = new SetClock(start)
  const clients = await clientsOf(store, sites)
  const chat = new Chat(chatKeyOf(clients) ?? randomBytes(18).toString('base64url'))
  const tagServer = await startTagServer(tagServerPortOf(sites), (id) => versionAt(id, replayClock.now()), chat)
  try {
    const ctx = { store, clock, actor: ACTOR }
    await leadToChat(ctx, clients, chat.hookUrl(tagServer.url))
    const led = await leadToTagServer(ctx, sites, tagServer.url)
    const probes = await ensureDemoProbes({ store, clock: { now: () => earliest }, actor: ACTOR }, led)
    const history = { incidents, releases, from, to: start }
    const actions = actionsOf(probes, history)
    // A target that someone configured cannot be asked about the past.
    const ours = probes.filter(
      ({ site, row }) => isData(row.probe_type) || site.row.tag_server_url?.startsWith(`${tagServer.url}/`),
    )
    const lookBack = { probes: ours, history, actions, clock: replayClock, actor: ACTOR }
    // The time since an earlier demo would otherwise count as an outage, although the history has counts of it.
    await forgetListening(store)
    const results = from < start ? await replayAsNode(options, tagServer, chat, lookBack) : 0
    replayClock.time = start
    return { tagServer, chat, probes: probes.length, results }
  } catch (thrown) {
    await tagServer.close()
    throw thrown
  }
}

const isData = (type: string): boolean => REGISTRY.get(type)?.kind === 'data'

async function replayAsNode(
  { store, config, clock }: ResultsOptions,
  tagServer: TagServer,
  chat: Chat,
  lookBack: Omit<ReplayOptions, 'nodeId' | 'tools' | 'deliver'>,
): Promise<number> {
  const closers = new Closers()
  try {
    const onError = (error: Error, what: string) => console.error(`${what}: ${error.message}`)
    // Results need a node, and without a live node the counts of a store are considered out of date.
    const node = await Membership.join({ store, clock, role: config.role, version: VERSION, onError })
    closers.add(() => node.leave())
    const settings = allowingTagServer(config, tagServer.url)
    // Only the demo's own server is asked, so work in this thread: starting two more takes longer than all their work.
    const outbound = createOutbound({ allow: settings.outboundAllow, userAgent: `Tagwarden/${VERSION}`, clock })
    const tools = { store, outbound, pages: pagesInThisThread, settings, retryAfterMs: SECOND }
    const notifications = new Notifications({
      ...{ store, clock: lookBack.clock, membership: node, onError },
      globalWebhook: OWN_CHAT_ONLY.globalWebhook,
      leases: new Leases({ store, clock, membership: node }),
      transports: {
        chat: onlyTo(chat.hookUrl(tagServer.url), createChatTransport({ outbound, webhookSecret: null })),
        email: null,
      },
      // The dashboard's address is not known yet: the chat uses only the path and adds the address later.
      publicUrl: () => tagServer.url,
      resultDays: config.retentionResultDays,
      onDelivered: noteDelivered(store),
    })
    closers.add(() => notifications.stop())
    const deliver = () => notifications.run()
    const planned = plannedRuns(lookBack.probes, lookBack.history)
    return await withProgress('running probes', planned, (update) =>
      replay({ ...lookBack, nodeId: node.nodeId, tools, deliver }, update),
    )
  } finally {
    await closers.closeAll()
  }
}

/** Sends only to `address`. Messages to channels that someone set up wait for the service. */
const onlyTo = (address: string, transport: Transport): Transport => ({
  send: async (order, signal) =>
    order.address === address ? transport.send(order, signal) : { kind: 'passing', error: 'the demo looks back' },
})

/** Time of the latest result of any probe, epoch ms; 0 without results. */
async function lastResultAt({ read }: Store): Promise<number> {
  const { at } = await read
    .selectFrom('probes')
    .select((eb) => eb.fn.max<number | null>('last_result_at').as('at'))
    .executeTakeFirstOrThrow()
  return at ?? 0
}
