import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Server } from 'node:net'
import type { TestContext } from 'node:test'

const HERE = '127.0.0.1'

/** Listens on a free port of this machine, and resolves with it. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, HERE)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the listener has no port')
  return address.port
}

/** Below those that the system gives to a program that asks for any port: Linux from 32,768, macOS and Windows from 49,152. */
const OWN_PORTS = { from: 20_000, to: 32_000 }
/** Ports of a block; a process holds the first one of its block for as long as it runs, which keeps other processes off the rest. */
const BLOCK = 20

/** The ports of this process's block that it has not given out. */
let ports: number[] = []

/**
 * A port that nothing listens on, for a program that is to be started there. No one else gets it meanwhile: no listener that takes any
 * port, no connection's own end, and no other process that asks here.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.shift()
    if (port === undefined) ports = await takeBlock()
    else if (await isFree(port)) return port
  }
}

async function takeBlock(): Promise<number[]> {
  for (;;) {
    const first = randomInt(OWN_PORTS.from / BLOCK, OWN_PORTS.to / BLOCK) * BLOCK
    const holder = createServer().unref()
    if (await tryListen(holder, first)) return Array.from({ length: BLOCK - 1 }, (_, n) => first + 1 + n)
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  if (!(await tryListen(server, port))) return false
  server.close()
  await once(server, 'close')
  return true
}

/** Whether it listens there now: another program may. */
async function tryListen(server: Server, port: number): Promise<boolean> {
  server.listen(port, HERE)
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  }
}

/** An address where nothing listens. */
export const deadAddress = async (): Promise<string> => `http://${HERE}:${await freePort()}`

/** An HTTP server that answers as given until the test ends, and its address. */
export async function startAnswering(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createHttpServer(answer)
  const port = await listen(server)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://${HERE}:${port}`
}
