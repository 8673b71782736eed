import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { listen } from '../../testkit/listeners.ts'

/** A status to answer, or what goes wrong: no answer at all, the connection cut. */
export type Ending = number | 'silence' | 'reset'

export interface Received {
  /** The Idempotency-Key, or null. */
  key: string | null
  body: string
}

export interface Endpoint {
  address: string
  received: Received[]
  /** How requests end from now on. */
  ending: Ending
}

/** An ingest endpoint that fails as a test wants it to. */
export async function openEndpoint(t: TestContext): Promise<Endpoint> {
  const state: Omit<Endpoint, 'address'> = { received: [], ending: 200 }
  const address = await serve(t, async (incoming, response) => {
    const key = incoming.headers['idempotency-key']
    state.received.push({ key: typeof key === 'string' ? key : null, body: await text(incoming) })
    end(response, state.ending)
  })
  return Object.assign(state, { address })
}

/** A proxy before a real service that passes all on, and answers only while `isAnswering` says so. */
export async function openMuteProxy(t: TestContext, service: string, isAnswering: () => boolean): Promise<string> {
  return serve(t, async (incoming, response) => {
    const { method, headers, url = '/' } = incoming
    const passed = request(new URL(url, service), { method: method ?? 'POST', headers })
    passed.end(await text(incoming))
    const [answer] = (await once(passed, 'response')) as [IncomingMessage]
    await text(answer)
    end(response, isAnswering() ? (answer.statusCode ?? 500) : 'silence')
  })
}

function end(response: ServerResponse, ending: Ending): void {
  if (ending === 'silence') return
  if (ending === 'reset') response.destroy()
  else response.writeHead(ending, { 'content-type': 'application/json' }).end('{}')
}

async function serve(
  t: TestContext,
  handle: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  const faults: unknown[] = []
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((fault: unknown) => faults.push(fault))
  })
  const port = await listen(server)
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    assert.deepEqual(faults, [])
  })
  return `http://127.0.0.1:${port}`
}
