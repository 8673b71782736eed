import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { apiClient, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { HeldBody, WAITS_FOR_BODIES } from '../../testkit/held-body.ts'
import { inTurn } from '../../testkit/length.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'

const CONNECTIONS = 220
const BODY_BYTES = 1_048_576
/** More clients than it takes to fill all the room there is. */
const HOSTILE_CLIENTS = 11

/** As a shop does. One request on the heels of the other made thousands of them, for most of what this took. */
const HEALTHY_EVERY_MS = 20

/** A valid event with an unknown field that fills the body with `item(index)`. */
function hostileBody(item: (index: number) => string): string {
  const event = JSON.stringify(eventPayload({ timestamp_ms: Date.now() })).slice(0, -1)
  const room = BODY_BYTES - event.length - 10
  let items = ''
  for (let index = 0; items.length + 10 < room; index++) items += `${item(index)},`
  return `${event},"x":[${items}0]}`
}

/** Takes 28 times as much in memory as it has bytes, and is refused for it. */
const EMPTY_OBJECTS = hostileBody(() => '{}')
/** Takes several times as much, and is as valid as any other. */
const SHORT_TEXTS = hostileBody((index) => `"${index.toString(36)}"`)

/** The limits of memory that `npm start` sets. */
async function startOptions(): Promise<string> {
  const file = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')
  const { scripts } = JSON.parse(file) as { scripts: { start: string } }
  return (scripts.start.match(/--max-\S+/g) ?? []).join(' ')
}

test(
  'hundreds of bodies that are huge in memory stop neither the service nor the answers to others',
  inTurn(2, 3),
  async (t) => {
    const options = await startOptions()
    assert.match(options, /--max-old-space-size=\d+/)
    const server = await startServerProcess(t, await tempDir(t), { NODE_OPTIONS: `${options} ${WAITS_FOR_BODIES}` })
    const api = apiClient(server.url)
    const healthy = await api.newSite(await api.newClient())
    const hostile: SiteKey[] = []
    for (let i = 0; i < HOSTILE_CLIENTS; i++) hostile.push(await api.newSite(await api.newClient()))
    const held = Array.from({ length: CONNECTIONS }, (_, i) => {
      const site = hostile[i % HOSTILE_CLIENTS]
      assert.ok(site)
      return new HeldBody(server.url, site, i % 2 === 0 ? EMPTY_OBJECTS : SHORT_TEXTS)
    })
    await Promise.all(held.map((connection) => connection.sent()))

    let isOver = false
    const answers: number[] = []
    const keepSending = async () => {
      do {
        answers.push((await api.ingest(healthy, eventPayload({ timestamp_ms: Date.now() }))).status)
        await setTimeout(HEALTHY_EVERY_MS)
      } while (!isOver)
    }
    const sending = keepSending()
    const outcomes = await Promise.all(held.map((connection) => connection.finish()))
    isOver = true
    await sending

    const counts = Map.groupBy(outcomes, (status) => status)
    t.diagnostic([...counts].map(([status, { length }]) => `${length} × ${status}`).join(', '))
    t.diagnostic(`${answers.length} answers to the healthy site meanwhile`)
    assert.deepEqual(new Set(answers), new Set([200]))
    assert.deepEqual(
      [...counts.keys()].filter((status) => !['200', '400', '429', '503', 'cut'].includes(status)),
      [],
    )
    assert.equal(
      outcomes.some((status, i) => i % 2 === 0 && status === '200'),
      false,
      'empty objects without end were accepted',
    )
    assert.ok(counts.has('200'), 'none of the valid ones was accepted')
    assert.equal((await api.call('GET', '/health')).status, 200)
    assert.equal(server.child.exitCode, null)
    assert.equal(await server.end('SIGTERM'), 0)
  },
)
