import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
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

/** What becomes of one request on its way to the service and of the answer on its way back. Times in ms. */
export interface Fate {
  /** Whether the service gets it, and when. */
  passedAfter: number | null
  answeredAfter: number
  /** What the sender gets; null: the service's own answer. */
  ending: Ending | null
}

/** A network between the containers and a real service. */
export interface Network {
  address: string
  /** Waits until the service has had all that it will get. */
  idle(): Promise<void>
}

/** @param fateOf decided for each request as it comes */
export async function openNetwork(t: TestContext, service: string, fateOf: () => Fate): Promise<Network> {
  const passing = new Set<Promise<unknown>>()
  const address = await serve(t, async (incoming, response) => {
    const { method, headers, url = '/' } = incoming
    const { passedAfter, answeredAfter, ending } = fateOf()
    const body = await text(incoming)
    const pass = async (after: number): Promise<number> => {
      await setTimeout(after)
      const passed = request(new URL(url, service), { method: method ?? 'POST', headers })
      passed.end(body)
      const [answer] = (await once(passed, 'response')) as [IncomingMessage]
      await text(answer)
      return answer.statusCode ?? 500
    }
    const passed = passedAfter === null ? Promise.resolve(500) : pass(passedAfter)
    passing.add(passed)
    const status = await passed.finally(() => passing.delete(passed))
    await setTimeout(answeredAfter)
    end(response, ending ?? status)
  })
  return {
    address,
    async idle() {
      while (passing.size > 0) await Promise.all(passing)
    },
  }
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
