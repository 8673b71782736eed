import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR } from '../../src/lib/index.ts'
import { TestLimits } from '../../src/notifications/api/channels.ts'
import { inWords } from '../../src/notifications/channel.ts'
import { channelsOf, type OwnChannel } from '../../src/notifications/index.ts'
import { newClock } from '../../testkit/clock.ts'

const own = (id: string, address: string, minimumSeverity: OwnChannel['minimumSeverity'] = 'warning'): OwnChannel => ({
  id,
  name: id,
  address,
  minimumSeverity,
  warningsAfterMs: null,
})

const CASES: readonly [title: string, email: string | null, channels: OwnChannel[], expected: string[]][] = [
  ['no list', 'a@x.example', [own('1', 'b@x.example')], ['email a@x.example', '1 b@x.example']],
  ['a part of a list', 'a@x.example', [own('1', 'A@x.example, b@x.example')], ['email a@x.example', '1 b@x.example']],
  ['all of a list', 'a@x.example, b@x.example', [own('1', 'b@x.example')], ['email a@x.example, b@x.example']],
  [
    'a list for what is critical only',
    null,
    [own('1', 'a@x.example, b@x.example', 'critical'), own('2', 'b@x.example')],
    ['2 b@x.example', '1 a@x.example'],
  ],
  ['a comma in a URL', null, [own('1', 'https://x.example/a,b')], ['1 https://x.example/a,b']],
]

for (const [title, email, channels, expected] of CASES) {
  test(`each address gets one message, with ${title}`, () => {
    const client = { id: 'c', chat_webhook: null, email, channels }
    const found = channelsOf({ client, globalWebhook: null, isEmailOn: true })
    assert.deepEqual(
      found.map(({ key, address }) => `${key.replace('own:c:', '').replace(':c', '')} ${address}`),
      expected,
    )
  })
}

test('test messages go to as many e-mail addresses in an hour as a client can have, and to no more', () => {
  const clock = newClock()
  const limits = new TestLimits(clock)
  const ten = (name: string) => Array.from({ length: 10 }, (_, n) => `${n}@${name}.example`).join(', ')
  const lists = Array.from({ length: 20 }, (_, n) => own(`${n}`, ten(`list${n}`)))
  const channels = (own: OwnChannel[], email: string | null) =>
    channelsOf({
      client: { id: 'c', chat_webhook: 'https://x.example/hook', email, channels: own },
      globalWebhook: null,
      isEmailOn: true,
    })
  limits.take('c', channels(lists, ten('client')))
  limits.take('c', channels(lists.slice(0, 4), null))
  assert.throws(() => limits.take('c', channels([], 'one@x.example')), { message: /250 test e-mails an hour.* 3600 s/ })
  limits.take('c', channels([], null))
  limits.take('other', channels(lists, null))
  clock.advance(HOUR)
  limits.take('c', channels(lists, null))
})

test('messages call a channel by its name, so that people know which of many to fix', () => {
  const person = { id: 'p', name: 'Grace', email: 'grace@example.com', channelId: null }
  const when = { timezone: 'UTC', handoverWeekday: 1, handoverTime: '09:00', startsOn: '2026-11-02' }
  const rotation = { people: [person], ...when, escalateAfterMinutes: null }
  const client = { id: 'c', name: 'ACME', chat_webhook: null, email: null, channels: [own('Night shift', 'x')] }
  const named = { ...client, onCall: { rotation, overrides: [] } }
  const keys = ['chat:c', 'email:c', 'own:c:Night shift', 'own:c:p'] as const
  assert.deepEqual(
    keys.map((key) => inWords(key, named)),
    ['chat of ACME', 'e-mail of ACME', '“Night shift” of ACME', 'e-mail of Grace (ACME)'],
  )
})
