import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { startTestService } from '../../testkit/service.ts'
import { ADMIN, VIEWER } from '../http/support.ts'

const clock = new TestClock('2026-11-20T10:00:00Z')

const BARE = {
  public_url: null,
  retention: { minute_days: 7, hour_days: 400, result_days: 90, audit_days: 730 },
  email_enabled: false,
  global_webhook: false,
  signed_webhooks: false,
  heartbeat: false,
  admin_token: false,
  viewer_token: false,
  default_plan: 'enterprise',
  engine: 'sqlite',
  time: '2026-11-20T10:00:00.000Z',
}

const SECRETS = {
  CHAT_WEBHOOK_URL: 'https://chat.example/hook/very-secret-1',
  WEBHOOK_SECRET: 'very-secret-22222222222',
  SMTP_URL: 'smtp://user:very-secret-3@mail.example:587',
  HEARTBEAT_URL: 'https://beat.example/very-secret-4',
}

test('the settings in effect say what is on, and what is kept how long', async (t) => {
  const { call } = await startTestService(t, clock)
  const answer = await call('GET', '/api/settings')
  assert.equal(answer.status, 200, answer.text)
  const { version, ...others } = answer.json<Record<string, unknown>>()
  assert.match(String(version), /^\d+\.\d+\.\d+/)
  assert.deepEqual(others, BARE)
})

test('of secrets they say that they are set and nothing else, to viewers and admins alike', async (t) => {
  const { call } = await startTestService(t, clock, {
    ...SECRETS,
    SMTP_FROM: 'alerts@example.com',
    PUBLIC_URL: 'https://tagwarden.example/',
    ADMIN_TOKEN: ADMIN,
    VIEWER_TOKEN: VIEWER,
    RETENTION_RESULT_DAYS: '30',
    RETENTION_AUDIT_DAYS: '365',
  })
  assert.equal((await call('GET', '/api/settings')).status, 401)
  for (const token of [ADMIN, VIEWER]) {
    const answer = await call('GET', '/api/settings', undefined, bearer(token))
    assert.equal(answer.status, 200, answer.text)
    const { version, ...others } = answer.json<Record<string, unknown>>()
    assert.deepEqual(others, {
      ...BARE,
      public_url: 'https://tagwarden.example',
      retention: { minute_days: 7, hour_days: 400, result_days: 30, audit_days: 365 },
      email_enabled: true,
      global_webhook: true,
      signed_webhooks: true,
      heartbeat: true,
      admin_token: true,
      viewer_token: true,
    })
    for (const secret of ['very-secret', ADMIN, VIEWER]) assert.doesNotMatch(answer.text, new RegExp(secret))
    assert.ok(version)
  }
})
