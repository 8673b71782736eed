import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { Container, type ContainerOptions, parseTemplate } from '../../../tag/sandbox/index.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { ANY_URL, fixture, permission } from './fixture.ts'

export const ORIGIN = 'https://tagwarden.test'
export const STORAGE = permission('access_template_storage')

/** Stores how its request ended. */
export const OUTCOME = fixture({
  code: `const addEventCallback = require('addEventCallback');
const sendHttpRequest = require('sendHttpRequest');
const storage = require('templateDataStorage');
addEventCallback(() => {
  sendHttpRequest(data.endpoint, { method: 'POST', timeout: 3600000 }, 'body').then(
    (answer) => storage.setItemCopy('end', [answer.statusCode, answer.body, answer.headers['x-kind']]),
    (failure) => storage.setItemCopy('end', failure)
  );
});
data.gtmOnSuccess();`,
  parameters: [{ type: 'TEXT', name: 'endpoint', defaultValue: `${ORIGIN}/ingest` }],
  permissions: [permission('read_event_metadata'), ANY_URL, STORAGE],
})

export interface Received {
  method: string | undefined
  path: string | undefined
  host: string | undefined
  body: string
}

type Given = Omit<Partial<ContainerOptions>, 'template'> & { text: string; answer?: RequestListener }

/** A container whose only reachable endpoint is a real server on this machine. */
export async function start(t: TestContext, { text, answer = accept, ...options }: Given) {
  const received: Received[] = []
  const url = await startAnswering(t, (request, response) => {
    void bodyOf(request).then((body) => {
      received.push({ method: request.method, path: request.url, host: request.headers.host, body })
      answer(request, response)
    })
  })
  const container = new Container({
    template: parseTemplate(text),
    fields: {},
    clock: new TestClock(1_700_000_000_000),
    connect: { [ORIGIN]: url },
    ...options,
  })
  t.after(() => container.close())
  return { container, received }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const accept: RequestListener = (_, response) => respond(response, 200, 'ok')

export function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'X-Kind': 'test' }).end(body)
}
