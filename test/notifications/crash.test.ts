import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { readConfig } from '../../src/config.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import { migrate, openStore, type Store } from '../../src/store/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { engines, placeFor, postgres, sqlite, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { amount, isInTurn } from '../../testkit/length.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'
import { enqueueMessages, insertClient } from './support.ts'
import { type Received, startWebhookServer } from './webhook-server.ts'

const CLIENTS = amount(7, 8)
const ALERTS_PER_CLIENT = amount(9, 25)
/** The two stories through kill -9 take turns, that of incidents on SQLite, and this where nodes claim what they send; at night both on both. */
const ENGINES = amount(0, 1) === 1 ? engines : isInTurn(1, 2) ? [postgres] : []
/** Kills in full course, after an early one and one while servers hang. */
const KILLS = amount(0, 3)
/** Messages of a life in full course. */
const MANY = amount(30, 80)
/** Too far apart to be one message; but all of the last client are. */
const STEP_MS = 31 * SECOND

/** An alert's story, in its order. */
const STORY = ['opened', 'escalated', 'resolved']

/** A message that a kill leaves without its outcome goes out again. */
const IN_ORDER = new RegExp(`^${STORY.map((kind) => `${kind}( ${kind}){0,${2 + KILLS}}`).join(' ')}$`)

interface Body {
  event: string
  idempotency_key: string
  alerts: { fingerprint: string }[]
}

/** Takes messages and counts them, and now and then does what servers do that are not well. */
class Webhook {
  /** What was answered with 200, in its order. */
  readonly accepted: Body[] = []
  readonly faults: Record<string, number> = {}
  /** Called with every answer, and every request that gets none. */
  onAnswer: () => void = () => undefined
  readonly #requests = new Map<string, number>()

  answer({ path, body }: Received, response: ServerResponse): void {
    const channel = Number(path.split('/').at(-1))
    const count = (this.#requests.get(path) ?? 0) + 1
    this.#requests.set(path, count)
    const fault = faultOf(channel, count)
    if (fault === null) this.accepted.push(JSON.parse(body) as Body)
    else this.faults[fault] = (this.faults[fault] ?? 0) + 1
    if (fault === null) response.writeHead(200).end('ok')
    else if (fault === 'reset') response.socket?.resetAndDestroy()
    else if (fault === 'busy') response.writeHead(429, { 'retry-after': '1' }).end()
    else if (fault === 'down') response.writeHead(500).end()
    this.onAnswer()
  }
}

/** Most cost ten seconds of waiting: each channel has one of those, and several that say to come back after a second. */
function faultOf(channel: number, count: number): string | null {
  if (count === 5) return ['down', 'reset', 'hang'][channel % 3] ?? null
  return count % 20 === 9 ? 'busy' : null
}

/** Writes the messages of all alerts, as old as if they had gathered while nothing ran. */
async function fillOutbox(store: Store, url: string): Promise<void> {
  const start = Date.now() - ALERTS_PER_CLIENT * STEP_MS - MINUTE
  for (let channel = 0; channel < CLIENTS; channel++) {
    const client = await insertClient(store, { chat_webhook: `${url}/hook/${channel}` })
    for (let n = 0; n < ALERTS_PER_CLIENT; n++) {
      const at = channel === CLIENTS - 1 ? start : start + n * STEP_MS
      const story = STORY.map((kind) => `${kind} ${store.engine}-${channel}-${n}`)
      await enqueueMessages(store, client, story, at)
    }
  }
}

testPerEngine(
  `through a webhook server that fails in every way and ${2 + KILLS} kill -9, every message arrives, in order, hardly any twice`,
  async (engine, t) => {
    const folder = await tempDir(t)
    const place = engine === sqlite ? { DATA_DIR: folder } : await placeFor(engine, t)
    const environment = { ...place, OUTBOUND_ALLOW: '127.0.0.1' }
    const webhook = new Webhook()
    const url = await startWebhookServer(t, (received, response) => webhook.answer(received, response))
    const withStore = async (work: (store: Store) => Promise<unknown>) => {
      const store = await openStore(readConfig(environment), (error) => t.diagnostic(error.message))
      await work(store)
      await store.close()
    }
    await withStore(async (store) => {
      await migrate(store.admin, store.columnTypes)
      await fillOutbox(store, url)
    })

    // Early; while servers hang; and in full course.
    const moments = [
      (accepted: number) => accepted >= MANY / 2,
      () => (webhook.faults.hang ?? 0) >= 2,
      ...Array.from({ length: KILLS }, () => (accepted: number) => accepted >= MANY),
    ]
    for (const isMoment of moments) {
      const before = webhook.accepted.length
      const server = await startServerProcess(t, folder, environment)
      await new Promise<void>((resolve) => {
        webhook.onAnswer = () => {
          if (!isMoment(webhook.accepted.length - before)) return
          server.child.kill('SIGKILL')
          resolve()
        }
        webhook.onAnswer()
      })
      webhook.onAnswer = () => undefined
      await server.end('SIGKILL')
      // Where others may be alive, they wait half a minute before they take a node for dead.
      if (engine !== sqlite) {
        await withStore((store) => store.write.updateTable('nodes').set({ seen_at: 0 }).execute())
      }
    }
    const server = await startServerProcess(t, folder, environment)
    const { call } = apiClient(server.url)
    await until('nothing waits', async () => {
      const waiting = await call('GET', '/api/deliveries?state=pending&limit=1')
      return waiting.json<unknown[]>().length === 0 || undefined
    })
    const others = await call('GET', '/api/deliveries?state=failed')
    assert.deepEqual(others.json(), [])
    assert.equal(await server.end('SIGTERM'), 0)

    for (const fault of ['down', 'reset', 'hang', 'busy']) assert.ok((webhook.faults[fault] ?? 0) > 0, fault)
    const stories = storiesOf(webhook.accepted)
    assert.equal(stories.size, CLIENTS * ALERTS_PER_CLIENT)
    let repeated = 0
    for (const [alert, story] of stories) {
      assert.match(story.join(' '), IN_ORDER, alert)
      repeated += story.length - STORY.length
    }
    t.diagnostic(`${webhook.accepted.length} accepted, ${repeated} repeated, faults ${JSON.stringify(webhook.faults)}`)
    sameUnderOneKey(webhook.accepted)
    // The last client's alerts began and ended as one.
    assert.ok(webhook.accepted.some(({ alerts }) => alerts.length === ALERTS_PER_CLIENT))
  },
  ENGINES,
)

/** The messages about each alert, in their order. */
function storiesOf(accepted: readonly Body[]): Map<string, string[]> {
  const stories = new Map<string, string[]>()
  for (const { event, alerts } of accepted) {
    for (const { fingerprint } of alerts) stories.set(fingerprint, [...(stories.get(fingerprint) ?? []), event])
  }
  return stories
}

/** A receiver that drops what it has seen by its key misses nothing. */
function sameUnderOneKey(accepted: readonly Body[]): void {
  const seen = new Map<string, string>()
  for (const { idempotency_key: key, event, alerts } of accepted) {
    const said = `${event} ${alerts.map(({ fingerprint }) => fingerprint).join()}`
    assert.equal(seen.get(key) ?? said, said)
    seen.set(key, said)
  }
}
