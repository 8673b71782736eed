import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { AlertMessage } from '../../../src/notifications/message.ts'
import { bodyOf, SERVICES, serviceOf } from '../../../src/notifications/services/services.ts'
import { AT, CHANNEL, KEY, opened, PUBLIC_URL, resolved } from './samples.ts'

const OPTIONS = { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL }

const CASES = [
  ['https://hooks.slack.com/services/T0/B0/secret', 'slack'],
  ['https://hooks.slack-gov.com/services/T0/B0/secret', 'slack'],
  ['https://HOOKS.Slack.com./services/T0/B0/secret', 'slack'],
  ['https://discord.com/api/webhooks/1/secret', 'discord'],
  ['https://discordapp.com/api/webhooks/1/secret', 'discord'],
  ['https://ptb.discord.com/api/webhooks/1/secret', 'discord'],
  ['https://canary.discordapp.com/api/v10/webhooks/1/secret?thread_id=2', 'discord'],
  ['https://acme.webhook.office.com/webhookb2/secret', 'teams'],
  ['https://prod-12.westeurope.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke?sig=secret', 'teams'],
  ['https://default0.12.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/1', 'teams'],
  ['https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t', 'google_chat'],
  ['https://hooks.example.com/alerts', 'generic'],
  // What only looks like one.
  ['https://hooks.slack.com.evil.example/services/T0/B0/secret', 'generic'],
  ['https://evilhooks.slack.com/services/T0/B0/secret', 'generic'],
  ['https://hooks.slack.com@evil.example/services/T0/B0/secret', 'generic'],
  ['https://evil.example/hooks.slack.com/services', 'generic'],
  ['https://evil.example/?https://hooks.slack.com/services', 'generic'],
  ['https://discord.com/channels/1/2', 'generic'],
  ['https://discord.com.evil.example/api/webhooks/1/secret', 'generic'],
  ['https://notdiscord.com/api/webhooks/1/secret', 'generic'],
  ['https://webhook.office.com.evil.example/x', 'generic'],
  ['https://acme.webhook.office.com.evil.example/x', 'generic'],
  ['https://evilwebhook.office.com/x', 'generic'],
  ['https://evil-logic.azure.com.example/x', 'generic'],
  ['https://.logic.azure.com/x', 'generic'],
  ['https://chat.googleapis.com.evil.example/v1/spaces', 'generic'],
  ['ftp://hooks.slack.com/services', 'generic'],
  ['hooks.slack.com/services', 'generic'],
  ['', 'generic'],
] as const

for (const [address, service] of CASES) {
  test(`${address === '' ? 'an empty address' : address} is ${service}`, () => equal(serviceOf(address), service))
}

/** All that an open alert may say at once. */
const FULL: AlertMessage = {
  ...opened,
  facts: Array.from({ length: 8 }, (_, n) => ({ name: `Figure ${n}`, value: 'x' })),
  on_call: 'Grace',
  incident: {
    id: opened.alert.id,
    title: opened.alert.title,
    cause: 'tag',
    alerts: 3,
    note: null,
    elsewhere: null,
    impact: { text: '267 purchases', final: false },
  },
}

for (const kind of ['opened', 'escalated', 'reminder', 'resolved'] as const) {
  test(`a message that an alert is ${kind} names the client in every service, and while it is open who is on call`, () => {
    for (const service of SERVICES) {
      const message = kind === 'resolved' ? { ...resolved, facts: FULL.facts } : { ...FULL, kind }
      const body = bodyOf(service, message, OPTIONS)
      // What keeps incidents knows whose it is since it opened.
      if (kind !== 'resolved' || !['pagerduty', 'opsgenie'].includes(service)) match(body, /ACME/, service)
      if (kind !== 'resolved') match(body, /Grace/, service)
    }
  })
}

test('the one message of many alerts names who is on call', () => {
  const messages = [FULL, { ...FULL, alert: { ...FULL.alert, id: 'another' } }]
  for (const service of SERVICES) {
    match(bodyOf(service, { kind: 'group', of: 'opened', client: opened.client, messages }, OPTIONS), /Grace/, service)
  }
})

test('what opens says in every service what changed before', () => {
  for (const service of SERVICES) match(bodyOf(service, opened, OPTIONS), /web container 41 → 42/, service)
})
