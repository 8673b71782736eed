import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../../src/notifications/services/services.ts'
import { outcomeOf } from '../../../src/notifications/services/transport.ts'
import type { SendOutcome } from '../../../src/notifications/transport.ts'
import { AT } from './samples.ts'

type Case = readonly [
  Service,
  number,
  string,
  SendOutcome['kind'],
  retryAfterMs?: number | undefined,
  headers?: Record<string, string>,
]

const CASES: readonly Case[] = [
  ['slack', 200, 'ok', 'delivered'],
  ['slack', 400, 'invalid_token', 'channel_broken'],
  ['slack', 400, 'no_service', 'channel_broken'],
  ['slack', 403, 'action_prohibited', 'channel_broken'],
  ['slack', 403, 'invalid_token', 'channel_broken'],
  ['slack', 404, 'no_service', 'channel_broken'],
  ['slack', 404, 'channel_not_found', 'channel_broken'],
  ['slack', 410, 'channel_is_archived', 'channel_broken'],
  ['slack', 400, 'invalid_payload', 'message_refused'],
  ['slack', 400, 'invalid_blocks', 'message_refused'],
  ['slack', 429, 'rate_limited', 'passing', 30_000, { 'retry-after': '30' }],
  ['slack', 500, 'rollup_error', 'passing'],
  ['slack', 302, '', 'passing', undefined, { location: 'https://slack.com/intl/help' }],

  ['discord', 200, '{"id":"1"}', 'delivered'],
  ['discord', 204, '', 'delivered'],
  ['discord', 404, '{"message":"Unknown Webhook","code":10015}', 'channel_broken'],
  ['discord', 401, '{"message":"Invalid Webhook Token","code":50027}', 'channel_broken'],
  ['discord', 400, '{"message":"Invalid Form Body","code":50035,"errors":{}}', 'message_refused'],
  [
    'discord',
    400,
    '{"message":"Webhooks posted to forum channels must have a thread","code":220001}',
    'channel_broken',
  ],
  ['discord', 429, '{"message":"You are being rate limited.","retry_after":0.35,"global":false}', 'passing', 350],
  ['discord', 429, '{"retry_after":64.57}', 'passing', 64_570, { 'retry-after': '65' }],
  ['discord', 429, '{"retry_after":64570}', 'passing', 64_570],
  ['discord', 429, 'error code: 1015', 'passing', 600_000, { 'retry-after': '600' }],
  ['discord', 403, '<html>error code: 1015 cloudflare</html>', 'passing', 900_000],
  ['discord', 403, '{"code":50013}', 'channel_broken'],
  ['discord', 503, 'upstream', 'passing'],

  ['teams', 202, '', 'delivered'],
  ['teams', 200, '1', 'delivered'],
  [
    'teams',
    200,
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
    'passing',
    60_000,
  ],
  [
    'teams',
    200,
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413',
    'message_refused',
  ],
  [
    'teams',
    200,
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 404',
    'channel_broken',
  ],
  ['teams', 200, 'Webhook message delivery failed with error: something else', 'passing'],
  ['teams', 400, '{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"off"}}', 'channel_broken'],
  ['teams', 400, '{"error":{"code":"TriggerInputSchemaMismatch","message":"no"}}', 'channel_broken'],
  ['teams', 400, 'Bad payload received by generic incoming webhook.', 'message_refused'],
  ['teams', 401, '{"error":{"code":"DirectApiAuthorizationRequired"}}', 'channel_broken'],
  ['teams', 404, '{"error":{"code":"WorkflowNotFound"}}', 'channel_broken'],
  ['teams', 410, '', 'channel_broken'],
  ['teams', 413, '', 'message_refused'],
  ['teams', 429, '', 'passing', 5_000, { 'retry-after': '5' }],

  ['google_chat', 200, '{"name":"spaces/A/messages/B"}', 'delivered'],
  ['google_chat', 429, '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}', 'passing', 60_000],
  ['google_chat', 429, '', 'passing', 60_000, { 'retry-after': '2' }],
  ['google_chat', 429, '', 'passing', 120_000, { 'retry-after': '120' }],
  ['google_chat', 403, '{"error":{"code":403,"status":"PERMISSION_DENIED"}}', 'channel_broken'],
  ['google_chat', 404, '{"error":{"code":404,"status":"NOT_FOUND"}}', 'channel_broken'],
  [
    'google_chat',
    400,
    '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}',
    'channel_broken',
  ],
  [
    'google_chat',
    400,
    '{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT"}}',
    'message_refused',
  ],
  ['google_chat', 503, '', 'passing'],

  ['generic', 200, '', 'delivered'],
  ['generic', 204, '', 'delivered'],
  ['generic', 303, '', 'delivered', undefined, { location: '/results/1' }],
  ['generic', 302, '', 'delivered', undefined, { location: 'https://script.googleusercontent.com/macros/echo?x=y' }],
  ['generic', 302, '', 'passing', undefined, { location: 'https://sign-in.example/' }],
  ['generic', 307, '', 'passing', undefined, { location: 'https://other.example/' }],
  ['generic', 301, '', 'channel_broken', undefined, { location: 'https://hooks.example/new/secret' }],
  ['generic', 308, '', 'channel_broken', undefined, { location: 'https://hooks.example/new/secret' }],
  ['generic', 400, '', 'message_refused'],
  ['generic', 413, '', 'message_refused'],
  ['generic', 422, '', 'message_refused'],
  ['generic', 401, '', 'channel_broken'],
  ['generic', 403, '', 'channel_broken'],
  ['generic', 404, '', 'channel_broken'],
  ['generic', 405, '', 'channel_broken'],
  ['generic', 410, '', 'channel_broken'],
  ['generic', 408, '', 'passing'],
  ['generic', 425, '', 'passing'],
  ['generic', 429, '', 'passing'],
  ['generic', 503, '', 'passing', 3_600_000, { 'retry-after': new Date(AT + 3_600_000).toUTCString() }],
  ['generic', 500, '', 'passing'],
  ['generic', 599, '', 'passing'],
]

for (const [service, status, body, kind, retryAfterMs, headers = {}] of CASES) {
  const shown = [status, ...Object.values(headers), body].join(' ').trim()
  test(`${service}: ${shown} is ${kind}`, () => {
    const outcome = outcomeOf(service, { status, headers, body }, AT)
    equal(outcome.kind, kind)
    if (outcome.kind === 'passing') equal(outcome.retryAfterMs, retryAfterMs)
  })
}

test('an error names the service, its answer and the reason it gave', () => {
  deepEqual(outcomeOf('slack', { status: 404, headers: {}, body: 'no_service' }, AT), {
    kind: 'channel_broken',
    error: 'Slack answered 404 (no_service): check the address',
  })
  deepEqual(outcomeOf('discord', { status: 404, headers: {}, body: '{"code":10015}' }, AT), {
    kind: 'channel_broken',
    error: 'Discord answered 404 (10015): check the address',
  })
})

test('no error repeats what an unknown server says, nor where exactly it redirects to: both may hold the secret', () => {
  const body = 'Cannot POST /hooks/secret'
  for (const status of [301, 302, 307, 308, 400, 404, 410, 422, 429, 500]) {
    const outcome = outcomeOf('generic', { status, headers: { location: 'https://hooks.example/secret' }, body }, AT)
    ok(!JSON.stringify(outcome).includes('secret'), JSON.stringify(outcome))
  }
})

test('a message that Teams took is noted as perhaps not posted', () => {
  const outcome = outcomeOf('teams', { status: 202, headers: {}, body: '' }, AT)
  deepEqual(outcome, {
    kind: 'delivered',
    note: 'Microsoft Teams accepted it, but does not say whether its workflow posted it',
  })
})
