import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Handles the requests of a connection one after the other, although a sender may send many without waiting (pipelining):
 * their answers go out in order anyway. Otherwise one who sends hundreds and reads nothing makes us hold as many answers, and
 * a few hundred such connections kept everybody else waiting for seconds.
 */
export function oneAtATime(handler: RequestListener): RequestListener {
  /** What waits on the connections that have a request under way. */
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>()

  const start = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    response.once('close', () => {
      const next = waiting.get(socket)?.shift()
      if (next === undefined || socket.destroyed) waiting.delete(socket)
      else start(...next)
    })
    handler(request, response)
  }

  return (request, response) => {
    const queue = waiting.get(request.socket)
    if (queue !== undefined) {
      queue.push([request, response])
      return
    }
    waiting.set(request.socket, [])
    start(request, response)
  }
}
