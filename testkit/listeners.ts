import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Server } from 'node:net'
import type { TestContext } from 'node:test'

const HERE = '127.0.0.1'

/** Listens on a free port of this machine and resolves with the port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, HERE)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the listener has no port')
  return address.port
}

/** Below the ephemeral ports that the system assigns: Linux from 32,768, macOS and Windows from 49,152. */
const OWN_PORTS = { from: 20_000, to: 32_000 }
/** Ports per block. A process listens on the first port of its block while it runs, which keeps other processes away from the rest. */
const BLOCK = 20

/** Unused ports of this process's block. */
let ports: number[] = []

/**
 * A free port for a program that will be started on it. Nothing else gets it meanwhile: no listener on port 0, no outgoing connection, and
 * no other process that calls this.
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

/** Tries to listen on the port; false when another program uses it. */
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
