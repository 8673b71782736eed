import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { startAnswering } from '../../testkit/listeners.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A webhook server on this machine; `answer` does as the test says with what it receives. */
export function startWebhookServer(
  t: TestContext,
  answer: (received: Received, response: ServerResponse) => void,
): Promise<string> {
  return startAnswering(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      answer({ path: request.url ?? '', headers: request.headers, body }, response)
    })
  })
}
