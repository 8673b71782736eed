import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { serviceOf } from '../../../src/notifications/services/services.ts'

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
