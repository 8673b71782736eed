import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channelsOf, type OwnChannel } from '../../src/notifications/index.ts'

const own = (id: string, address: string, minimumSeverity: OwnChannel['minimumSeverity'] = 'warning'): OwnChannel => ({
  id,
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
