import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DeliveryRecord } from '../../src/notifications/index.ts'
import type { ClientRow, Store } from '../../src/store/index.ts'
import { newClock, type TestClock } from '../../testkit/clock.ts'
import { placeFor, type TestEngine } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { enqueueMessages } from './support.ts'
import { type Received, startWebhookServer } from './webhook-server.ts'

export const ADMIN = 'admin-token-0123456789'
export const VIEWER = 'viewer-token-0123456789'
export const MISSING = '00000000-0000-4000-8000-000000000000'

export interface Stage extends TestService {
  clock: TestClock
  store: Store
  hookUrl: string
  received: Received[]
  /** Status that the webhook server answers with; 200 at first. */
  answer: { status: number }
  run: () => Promise<void>
  enqueueAbout: (client: { id: string }, texts: readonly string[]) => Promise<void>
  list: (query?: string) => Promise<DeliveryRecord[]>
}

/** The whole service, and a webhook server that it may reach. */
export async function stage(
  t: TestContext,
  engine: TestEngine,
  environment: Record<string, string> = {},
  global = false,
): Promise<Stage> {
  const received: Received[] = []
  const answer = { status: 200 }
  const url = await startWebhookServer(t, (request, response) => {
    received.push(request)
    response.writeHead(answer.status).end()
  })
  const clock = newClock()
  const hookUrl = `${url}/secret-path`
  const api = await startTestService(t, clock, {
    OUTBOUND_ALLOW: '127.0.0.1',
    ...(await placeFor(engine, t)),
    ...(global ? { CHAT_WEBHOOK_URL: `${url}/global` } : {}),
    ...environment,
  })
  const { store, worker } = api.service
  assert.ok(worker !== null)
  const { notifications } = worker
  return {
    ...api,
    clock,
    store,
    hookUrl,
    received,
    answer,
    async run() {
      // A tick that was under way has read the clock before the test moved it; this waits for that one, and is the next.
      await notifications.run()
      await notifications.run()
    },
    async enqueueAbout({ id }, texts) {
      const client = await store.read.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      await enqueueMessages(store, client as ClientRow, texts, clock.now(), notifications.channelSettings)
    },
    async list(query = '') {
      const listed = await api.call('GET', `/api/deliveries${query}`)
      assert.equal(listed.status, 200, listed.text)
      return listed.json<DeliveryRecord[]>()
    },
  }
}
