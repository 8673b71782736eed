import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
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
  const { address } = await serve(t, async (incoming, response) => {
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
  /** How long after that it gets it once more, from a proxy that had lost the answer; left out: once only. */
  repeatedAfter?: number
  answeredAfter: number
  /** What the sender gets; null: the service's own answer. */
  ending: Ending | null
}

export interface Passed {
  /** The Idempotency-Key. */
  key: string
  status: number
}

/** A network between the containers and a real service. */
export interface Network {
  address: string
  /** All that the service got, with its answer. */
  passed: Passed[]
  /** Takes nothing more, and waits until the service has had all that it will get. */
  close(): Promise<void>
}

/** @param fateOf decided for each request as it comes */
export async function openNetwork(t: TestContext, service: string, fateOf: () => Fate): Promise<Network> {
  const passing = new Set<Promise<unknown>>()
  const all: Passed[] = []
  const { address, server } = await serve(t, async (incoming, response) => {
    const { method, headers, url = '/' } = incoming
    const { passedAfter, repeatedAfter, answeredAfter, ending } = fateOf()
    const pass = async (body: string, after: number): Promise<number> => {
      await setTimeout(after)
      const passed = request(new URL(url, service), { method: method ?? 'POST', headers })
      passed.end(body)
      const [answer] = (await once(passed, 'response')) as [IncomingMessage]
      await text(answer)
      const status = answer.statusCode ?? 500
      all.push({ key: String(headers['idempotency-key']), status })
      return status
    }
    const passOn = async (): Promise<number> => {
      const body = await bodyOf(incoming)
      if (body === null || passedAfter === null) return 500
      const status = await pass(body, passedAfter)
      return repeatedAfter === undefined ? status : pass(body, repeatedAfter)
    }
    const passed = passOn()
    passing.add(passed)
    const status = await passed.finally(() => passing.delete(passed))
    await setTimeout(answeredAfter)
    end(response, ending ?? status)
  })
  return {
    address,
    passed: all,
    async close() {
      // A sender that gave up may have left a request that no one has read yet: it is never read.
      server.close()
      server.closeAllConnections()
      while (passing.size > 0) await Promise.all(passing)
    },
  }
}

/** Null of a request whose sender was gone before all of it had come. */
async function bodyOf(incoming: IncomingMessage): Promise<string | null> {
  try {
    return await text(incoming)
  } catch (error) {
    if (incoming.complete) throw error
    return null
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
): Promise<{ address: string; server: Server }> {
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
  return { address: `http://127.0.0.1:${port}`, server }
}
