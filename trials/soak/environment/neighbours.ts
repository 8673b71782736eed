import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { listen } from '../../../testkit/listeners.ts'
import { WEBHOOK_PATH } from './targets.ts'

/** What the outside world met in a stretch of time. */
export interface NeighbourFigures {
  probed: number
  /** Messages that the webhook received. */
  messages: number
}

/** The tag servers that are probed, of which one group at a time can be broken, and the receiver of messages. */
export class Neighbours {
  readonly #server: Server
  #broken: number | null = null
  #probed = 0
  #messages = 0

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  listen(): Promise<number> {
    return listen(this.#server)
  }

  /** From now on this group fails; null: none does. */
  break(group: number | null): void {
    this.#broken = group
  }

  take(): NeighbourFigures {
    const figures = { probed: this.#probed, messages: this.#messages }
    this.#probed = 0
    this.#messages = 0
    return figures
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '/' } = request
    request.resume()
    if (url.startsWith(WEBHOOK_PATH)) {
      this.#messages += 1
      response.end('ok')
      return
    }
    this.#probed += 1
    const isBroken = this.#broken !== null && url.split('/')[2] === String(this.#broken)
    response.writeHead(isBroken ? 503 : 200, { 'Content-Type': 'text/plain' }).end(isBroken ? 'down' : 'ok')
  }
}
