import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { logicEngines, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { watchedServer } from './watched-server.ts'

/** What Discord does with a webhook's messages: it gives each an id, and lets it be changed until someone deletes it. */
class Discord {
  /** By id, in the order in which people see them: the heading of each. */
  readonly messages = new Map<string, string>()
  readonly requests: string[] = []
  /** The next requests are answered so. */
  readonly faults: number[] = []
  #last = 1_300_000_000_000_000_000n

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://discord.example')
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      const { embeds } = JSON.parse(body) as { embeds: { title: string }[] }
      const id = /^\/api\/webhooks\/1\/secret\/messages\/(\d+)$/.exec(pathname)?.[1]
      const say = (status: number, answer: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      this.requests.push(`${request.method} ${id === undefined ? 'new' : 'edit'}`)
      const fault = this.faults.shift()
      if (fault !== undefined) return say(fault, { message: 'not now', code: 0 })
      if (id === undefined) this.#last += 1n
      const known = id ?? String(this.#last)
      if (id === undefined) assert.equal(request.method === 'POST' && searchParams.get('wait'), 'true')
      else if (request.method !== 'PATCH') return say(405, {})
      else if (!this.messages.has(id)) return say(404, { message: 'Unknown Message', code: 10008 })
      this.messages.set(known, embeds[0]?.title ?? '')
      return say(200, { type: 0, content: '', embeds, id: known, channel_id: '7' })
    })
  }

  get seen(): string[] {
    return [...this.messages.values()].map((title) => title.replace(/^(\[\w+( \w+)?\]).*$/, '$1'))
  }
}

async function atDiscord(t: TestContext, engine: TestEngine) {
  const discord = new Discord()
  const url = await startAnswering(t, (request, response) => discord.answer(request, response))
  const server = await watchedServer(t, engine, { NOTIFY_WARNINGS_AFTER_MINUTES: '0' })
  // Named for the service, as its own host cannot be one of ours.
  const chat_webhook = `discord+${url}/api/webhooks/1/secret`
  await server.store.write.updateTable('clients').set({ chat_webhook }).where('id', '=', server.client.id).execute()
  return { ...server, discord }
}

const WARNING = '<html>another server</html>'

testPerEngine(
  'in Discord what is over is said in the place of all that was said, and what is worse is a message of its own',
  async (engine, t) => {
    const { find, discord, list } = await atDiscord(t, engine)
    await find(200, WARNING)
    await find(503)
    assert.deepEqual(discord.seen, ['[WARNING]', '[CRITICAL]'])
    await find(200)
    assert.deepEqual(discord.seen, ['[RESOLVED]', '[RESOLVED]'])
    assert.deepEqual(discord.requests, ['POST new', 'POST new', 'PATCH edit', 'PATCH edit'])
    assert.deepEqual(new Set((await list()).map(({ state }) => state)), new Set(['delivered']))
  },
  logicEngines,
)

testPerEngine(
  'an end whose message someone has deleted is a new one',
  async (engine, t) => {
    const { find, discord } = await atDiscord(t, engine)
    await find(503)
    discord.messages.clear()
    await find(200)
    assert.deepEqual(discord.seen, ['[RESOLVED]'])
    assert.deepEqual(discord.requests, ['POST new', 'PATCH edit', 'POST new'])
  },
  logicEngines,
)

testPerEngine('an end that Discord refuses to put in the place of the opening is a new message', async (engine, t) => {
  const { find, discord } = await atDiscord(t, engine)
  await find(503)
  discord.faults.push(403)
  await find(200)
  assert.deepEqual(discord.seen, ['[CRITICAL]', '[RESOLVED]'])
})

testPerEngine(
  'an edit that fails for now is tried again, and is no new message',
  async (engine, t) => {
    const { find, discord, clock, run, service } = await atDiscord(t, engine)
    await find(503)
    discord.faults.push(500)
    await find(200)
    assert.deepEqual(discord.seen, ['[CRITICAL]'])
    clock.advance(60_000)
    await service.membership.beat()
    await run()
    assert.deepEqual(discord.seen, ['[RESOLVED]'])
  },
  logicEngines,
)
