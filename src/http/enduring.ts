import type { RequestListener } from 'node:http'
import { asError } from '../lib/index.ts'

/**
 * Hands requests to `handler`; one that makes it throw loses its connection. Nothing catches what a listener of the server throws,
 * so it would end the process, with everybody else's requests.
 */
export function enduring(handler: RequestListener, onError: (error: Error, what: string) => void): RequestListener {
  return (request, response) => {
    try {
      handler(request, response)
    } catch (thrown) {
      request.socket.destroy()
      onError(asError(thrown), 'a request')
    }
  }
}
