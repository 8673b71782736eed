import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryRecord } from '../../web/src/api/channels.ts'
import { messageDue } from '../../web/src/features/incidents/at-a-glance.ts'
import { mendOfChannel } from '../../web/src/ui/delivery-words.ts'

const NOW = Date.parse('2026-11-20T03:00:00Z')

const delivery = (over: Partial<DeliveryRecord>): DeliveryRecord => ({
  id: 'one',
  channel: 'chat:c',
  service: 'slack',
  client_id: 'c',
  alert_id: 'a',
  kind: 'opened',
  title: 'Meta fails',
  state: 'pending',
  created_at: '2026-11-20T03:00:00.000Z',
  not_before: '2026-11-20T03:30:00.000Z',
  group_id: null,
  attempts: 0,
  last_attempt_at: null,
  last_error: null,
  note: null,
  delivered_at: null,
  over_before_due: false,
  ...over,
})

const words = (deliveries: Partial<DeliveryRecord>[], state: 'open' | 'resolved' = 'open') =>
  messageDue({ deliveries: deliveries.map(delivery), severity: 'warning', state }, (at) => clock(at), NOW)

const clock = (at: number) => new Date(at).toISOString().slice(11, 16)

test('while a message waits the page says until when, and where', () => {
  assert.equal(words([{}]), 'Warning: message due at 03:30 (Slack)')
  const mail = { service: 'email', not_before: '2026-11-20T07:00:00.000Z' } as const
  assert.equal(words([mail, {}]), 'Warning: message due at 03:30 (E-mail, Slack)')
  assert.equal(words([{ service: 'webhook', state: 'delivered' }, {}]), 'Warning: message due at 03:30 (Slack)')
})

test('it says nothing of what is on its way, was sent, or failed', () => {
  assert.equal(words([{ not_before: '2026-11-20T03:00:10.000Z' }]), null)
  assert.equal(words([{ state: 'delivered' }]), null)
  assert.equal(words([{ attempts: 1 }]), null)
  assert.equal(words([]), null)
})

test('what was over before a message was due says that there is none', () => {
  const brief = { state: 'cancelled', over_before_due: true } as const
  assert.equal(words([brief], 'resolved'), 'No message: it was over before one was due')
  assert.equal(
    words([{ kind: 'passed', over_before_due: true }], 'resolved'),
    'No message: it was over before one was due',
  )
  assert.equal(words([brief, { kind: 'resolved', state: 'delivered' }], 'resolved'), null)
  assert.equal(words([{ state: 'cancelled', last_error: 'the client was deleted' }], 'resolved'), null)
})

test('a channel that is refused says what to edit, which is not always the webhook of the client', () => {
  assert.deepEqual(['global', 'chat:c', 'email:c', 'own:c:1'].map(mendOfChannel), [
    'set another CHAT_WEBHOOK_URL',
    "edit the client's webhook",
    "edit the client's e-mail address",
    'edit the address of the channel',
  ])
})
