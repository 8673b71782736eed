import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApiClient, apiClient, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { placeFor, postgres, sqlite, tempDir } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { sessionsOver } from '../../testkit/postgres/databases.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'

const ROUNDS = [
  [sqlite, amount(2, 20)],
  [postgres, amount(1, 8)],
] as const
const CONNECTIONS = 16
/** Acknowledged requests after which the process is killed; another number each round, so that it dies at other places. */
const killAfter = (round: number) => 40 + ((round * 137) % 400)

interface Sent {
  acknowledged: number
  /** Requests whose answer never came: they may have been counted or not. */
  unknown: string[]
}

/** Sends one request after the other on several connections until the process is gone. */
async function sendUntilDead(
  send: (key: string) => Promise<number>,
  name: string,
  onAcknowledged: () => void,
): Promise<Sent> {
  const sent: Sent = { acknowledged: 0, unknown: [] }
  let next = 0
  let isDead = false
  const connection = async () => {
    while (!isDead) {
      const key = `${name}-${next++}`
      const status = await send(key).catch(() => 0)
      if (status === 200) {
        sent.acknowledged++
        onAcknowledged()
      } else {
        isDead = true
        sent.unknown.push(key)
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return sent
}

async function totalOf(api: ApiClient, site: SiteKey): Promise<number> {
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=2`)
  return answer.json<{ total_events: number }>().total_events
}

/** (A node that others take for alive for half a minute stays, too; who starts folds its rows all the same.) */
async function settle({ DATABASE_URL: url }: Record<string, string>): Promise<void> {
  if (url !== undefined) await sessionsOver(url)
}

for (const [engine, rounds] of ROUNDS) {
  test(`over ${rounds} rounds of load and kill -9, every acknowledged request is counted exactly once (${engine.name})`, async (t) => {
    const folder = await tempDir(t)
    // On a disk, where a commit takes its time and is hit more often.
    const environment = engine === sqlite ? { DATA_DIR: folder } : await placeFor(engine, t)
    const start = () => startServerProcess(t, folder, environment)
    let server = await start()
    let api = apiClient(server.url)
    const client = await api.newClient()
    const plain = await api.newSite(client, { name: 'plain' })
    const keyed = await api.newSite(client, { name: 'keyed' })
    const send = (site: SiteKey, headers: Record<string, string> = {}) =>
      api.ingest(site, eventPayload({ timestamp_ms: Date.now() }), headers).then((answer) => answer.status)

    let acknowledged = 0
    let counted = 0
    let distinct = 0
    for (let round = 0; round < rounds; round++) {
      let answers = 0
      const onAcknowledged = () => {
        answers++
        if (answers === killAfter(round)) server.child.kill('SIGKILL')
      }
      const withKey = (key: string) => send(keyed, { 'idempotency-key': key })
      const [bare, identified] = await Promise.all([
        sendUntilDead(() => send(plain), `${round}`, onAcknowledged),
        sendUntilDead(withKey, `${round}`, onAcknowledged),
      ])
      await server.end('SIGKILL')
      await settle(environment)
      server = await start()
      api = apiClient(server.url)

      // Without a key an unanswered request may or may not count; what was acknowledged must, once.
      acknowledged += bare.acknowledged
      const total = await totalOf(api, plain)
      const grown = total - counted
      assert.ok(
        grown >= bare.acknowledged && grown <= bare.acknowledged + bare.unknown.length,
        `round ${round}: ${bare.acknowledged} acknowledged, ${bare.unknown.length} unanswered, ${grown} counted`,
      )
      counted = total

      // With a key the sender repeats what was not answered, and every request counts exactly once.
      for (const key of identified.unknown) assert.equal(await withKey(key), 200)
      distinct += identified.acknowledged + identified.unknown.length
      await until('the repeated requests are visible', async () =>
        (await totalOf(api, keyed)) >= distinct ? true : undefined,
      )
      assert.equal(await totalOf(api, keyed), distinct, `round ${round}`)
    }
    assert.ok(acknowledged > rounds * 10)
    assert.equal(await server.end('SIGTERM'), 0)
  })
}
