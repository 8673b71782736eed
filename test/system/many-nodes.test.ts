import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApiClient, apiClient, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { startPostgres } from '../../testkit/postgres/databases.ts'
import { type ServerProcess, startServerProcess } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'

const NODES = 3
const SENDERS = 24
/** Acknowledged requests in each part of the run: before the kill, before the restart of the database, after it. */
const ANSWERS_PER_PART = amount(150, 1_500)
/** Before a sender tries again what was refused: two dozen that did so at once kept the machine busy while nothing could take them. */
const AGAIN_MS = 50

interface Sent {
  acknowledged: number
  /** Requests that were refused or never answered: without a key they may have been counted or not. */
  unknown: number
}

/** Sends on many connections to whichever node is next, until stopped. */
class Senders {
  readonly sent: Record<'plain' | 'keyed', Sent> = {
    plain: { acknowledged: 0, unknown: 0 },
    keyed: { acknowledged: 0, unknown: 0 },
  }
  readonly #targets: ApiClient[]
  readonly #sites: Record<'plain' | 'keyed', SiteKey>
  readonly #running: Promise<void>[]
  #isOver = false
  #next = 0

  constructor(targets: ApiClient[], sites: Record<'plain' | 'keyed', SiteKey>) {
    this.#targets = targets
    this.#sites = sites
    this.#running = Array.from({ length: SENDERS }, (_, index) =>
      this.#send(index % 2 === 0 ? 'plain' : 'keyed', index),
    )
  }

  /** A load balancer takes a node out when it no longer answers. */
  takeOut(target: ApiClient): void {
    this.#targets.splice(this.#targets.indexOf(target), 1)
  }

  async untilAnswers(count: number): Promise<void> {
    const end = this.#answers + count
    await until(`${count} more answers`, () => (this.#answers >= end ? true : undefined))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  get #answers(): number {
    return this.sent.plain.acknowledged + this.sent.keyed.acknowledged
  }

  async #send(kind: 'plain' | 'keyed', sender: number): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      const key = `${sender}-${number}`
      // What has a key is sent again until it is acknowledged, as a sender that wants to lose nothing does.
      while (!(await this.#sendOnce(kind, kind === 'keyed' ? { 'idempotency-key': key } : {}))) {
        this.sent[kind].unknown++
        if (kind === 'plain') break
      }
    }
  }

  async #sendOnce(kind: 'plain' | 'keyed', headers: Record<string, string>): Promise<boolean> {
    const target = this.#targets[this.#next++ % this.#targets.length]
    if (target === undefined) throw new Error('no node is left')
    const status = await target
      .ingest(this.#sites[kind], eventPayload({ timestamp_ms: Date.now() }), headers)
      .then((answer) => answer.status)
      .catch(() => 0)
    if (status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      return false
    }
    this.sent[kind].acknowledged++
    return true
  }
}

async function counted(api: ApiClient, site: SiteKey): Promise<number> {
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=2`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ total_events: number }>().total_events
}

test('three nodes on one PostgreSQL: one is killed, the database restarts, and every acknowledged request counts once', async (t) => {
  const database = await startPostgres(t, { durable: true })
  const folder = await tempDir(t)
  const start = (): Promise<ServerProcess> => startServerProcess(t, folder, { DATABASE_URL: database.url })
  // All at once, on an empty database: they also migrate it together.
  const nodes = await Promise.all(Array.from({ length: NODES }, start))
  const apis = nodes.map((node) => apiClient(node.url))
  const [first, , third] = apis
  const [, , victim] = nodes
  if (first === undefined || third === undefined || victim === undefined) throw new Error('nodes are missing')
  const client = await first.newClient()
  const sites = { plain: await first.newSite(client), keyed: await first.newSite(client) }

  const senders = new Senders([...apis], sites)
  await senders.untilAnswers(ANSWERS_PER_PART)
  await victim.end('SIGKILL')
  senders.takeOut(third)
  await senders.untilAnswers(ANSWERS_PER_PART)
  await database.stop('immediate')
  await until('a node notices', async () => ((await first.call('GET', '/ready')).status === 503 ? true : undefined))
  await database.start()
  await senders.untilAnswers(ANSWERS_PER_PART)
  await senders.stop()

  const { plain, keyed } = senders.sent
  // Another node folds the dead node's rows when it has sent no heartbeat for half a minute.
  await until('everything is counted', async () =>
    (await counted(first, sites.keyed)) >= keyed.acknowledged ? true : undefined,
  )
  await until('the journal is empty', async () => {
    const total = await counted(first, sites.plain)
    return total >= plain.acknowledged ? true : undefined
  })
  for (const node of nodes.slice(0, 2)) assert.equal(await node.end('SIGTERM'), 0)
  const fresh = await start()
  const api = apiClient(fresh.url)
  assert.equal(await counted(api, sites.keyed), keyed.acknowledged)
  const total = await counted(api, sites.plain)
  assert.ok(
    total >= plain.acknowledged && total <= plain.acknowledged + plain.unknown,
    `${plain.acknowledged} acknowledged, ${plain.unknown} unanswered, ${total} counted`,
  )
  assert.doesNotMatch(await database.log(), /deadlock detected/)
  assert.equal(await fresh.end('SIGTERM'), 0)
})
