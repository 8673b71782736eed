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

/** A port that nothing listens on, for a program that is to be started there. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
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
