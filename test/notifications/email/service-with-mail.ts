import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { bearer } from '../../../testkit/api.ts'
import type { TestClock } from '../../../testkit/clock.ts'
import { placeFor, type TestEngine } from '../../../testkit/engines.ts'
import { startTestService } from '../../../testkit/service.ts'
import { ADMIN, VIEWER } from '../../management/support.ts'
import { mailServer } from './smtp-server.ts'

/** A service that sends e-mail to a server of its own, in which nothing happens but what the test does: its loops are stopped. */
export async function serviceWithMail(
  t: TestContext,
  engine: TestEngine,
  clock: TestClock,
  options: Parameters<typeof mailServer>[1] = {},
  settings: Record<string, string> = {},
) {
  const mail = await mailServer(t, options)
  const api = await startTestService(t, clock, {
    ADMIN_TOKEN: ADMIN,
    VIEWER_TOKEN: VIEWER,
    PUBLIC_URL: 'https://watch.example',
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    SMTP_FROM: 'alerts@example.com',
    ...settings,
    ...(await placeFor(engine, t)),
  })
  const loops = api.service.worker?.loops ?? []
  for (const loop of loops) await loop.stop()
  /** As an owner of all clients. */
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await api.call(method, path, body, bearer(ADMIN))
    assert.ok(answer.status < 300, answer.text)
    return answer.status === 204 ? JSON.parse('null') : answer.json<T>()
  }
  return { mail, api, loops, call }
}
