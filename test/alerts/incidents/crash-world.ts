import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE } from '../../../src/lib/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertClient, insertSite } from '../../../testkit/sites.ts'

/** What every tag server answers: a wrong text is a warning, a status of 500 is critical. */
const MOODS = {
  odd: [200, '<html>another server</html>'],
  down: [500, 'no'],
  well: [200, 'ok'],
} as const satisfies Record<string, readonly [number, string]>
export type Mood = keyof typeof MOODS

/** A message that reached its people. */
export interface Accepted {
  event: string
  idempotency_key: string
  alert: { id: string }
  incident: { id: string }
}

/** The tag servers of all sites and the webhooks of their clients: `/site/3/…` and `/hook/3`. */
export class World {
  mood: Mood = 'well'
  /** By the path of the webhook, in their order. */
  readonly accepted = new Map<string, Accepted[]>()
  /** Called with each request, before it is answered. */
  onRequest: (of: 'site' | 'hook') => void = () => undefined

  answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? ''
    const isHook = path.startsWith('/hook/')
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      // What it has read it has, whether or not its answer arrives.
      if (isHook) this.accepted.set(path, [...(this.accepted.get(path) ?? []), JSON.parse(body) as Accepted])
      this.onRequest(isHook ? 'hook' : 'site')
      const [status, text] = isHook ? [200, 'ok'] : MOODS[this.mood]
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
    })
  }

  get messages(): number {
    return [...this.accepted.values()].reduce((sum, { length }) => sum + length, 0)
  }
}

/** Clients with one site each, which two probes look at that no schedule runs. */
export async function furnish(store: Store, url: string, sites: number): Promise<string[]> {
  const probeIds: string[] = []
  for (let n = 0; n < sites; n++) {
    const client = await insertClient(store, { chat_webhook: `${url}/hook/${n}` })
    const site = await insertSite(store, { client_id: client.id, tag_server_url: `${url}/site/${n}` })
    for (const probe_type of ['http_health', 'tag_server_infra']) {
      const probe = await insertProbe(store, site.id, { probe_type, name: probe_type, interval_seconds: 86_400 })
      probeIds.push(probe.id)
    }
  }
  await postpone(store)
  return probeIds
}

/** As if the messages had gathered while nothing ran; and no probe runs unless it is asked to. */
export async function passTime(store: Store): Promise<void> {
  await store.write
    .updateTable('deliveries')
    .set({ not_before: Date.now() - MINUTE })
    .where('state', '=', 'pending')
    .execute()
  // Where others may be alive, they wait half a minute before they take a node for dead.
  await store.write.updateTable('nodes').set({ seen_at: 0 }).execute()
  await postpone(store)
}

const postpone = (store: Store) =>
  store.write
    .updateTable('probes')
    .set({ next_run_at: Date.now() + 1_000 * MINUTE })
    .execute()

/** Several at a time, until all are done. */
export async function together<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Resolves when `count` requests of a kind have come, and a little later. */
export function afterRequests(world: World, of: 'site' | 'hook', count: number, laterMs: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0
    world.onRequest = (kind) => {
      if (kind !== of || ++seen !== count) return
      world.onRequest = () => undefined
      if (laterMs === 0) resolve()
      else void sleep(laterMs).then(resolve)
    }
  })
}
