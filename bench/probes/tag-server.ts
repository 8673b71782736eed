import { createServer } from 'node:net'
import { listen } from '../../testkit/listeners.ts'
import { answerCalls } from '../../testkit/processes/worker-calls.ts'

/**
 * The tag server that all probes ask: answers every packet with `ok`, as the image's `/healthy` does, a little later. It
 * shares a core with the load generator and looks at nothing, so that it costs next to none of it. The parent's call is
 * answered with what it listens on and has answered so far.
 */
export interface TagServer {
  port: number
  answered: number
}

const ANSWER_AFTER_MS = 5
const ANSWER = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok',
)

let answered = 0

const server = createServer({ noDelay: true }, (socket) => {
  socket.once('data', () => {
    setTimeout(() => {
      answered += 1
      socket.end(ANSWER)
    }, ANSWER_AFTER_MS)
  })
  socket.on('error', () => socket.destroy())
})
const listening = listen(server)

const calls = { ask: async (): Promise<TagServer> => ({ port: await listening, answered }) }
export type TagServerCalls = typeof calls

answerCalls(calls)
