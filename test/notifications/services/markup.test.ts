import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { composeEmail } from '../../../src/notifications/email/compose.ts'
import type { AlertMessage, VendorMessage } from '../../../src/notifications/message.ts'
import type { Service } from '../../../src/notifications/services/services.ts'
import { payloadOf } from '../../../src/notifications/services/services.ts'
import { AT, CHANNEL, KEY, opened, PUBLIC_URL } from './samples.ts'

/** What a fact's value becomes. */
const CASES: readonly (readonly [Service, string, string])[] = [
  ['slack', '<!channel> & <@U1>', '&lt;!channel&gt; &amp; &lt;@U1&gt;'],
  ['slack', '<https://evil.example|click>', '&lt;https[:]//evil.example|click&gt;'],
  ['slack', 'add_to_cart', 'add_to_cart'],
  ['slack', '*bold* _it_ ~no~', '`*bold* _it_ ~no~`'],
  ['slack', 'a `code` b', '`a ˋcodeˋ b`'],
  ['slack', 'a :skull: b', '`a :skull: b`'],
  ['discord', '@everyone', '\\@everyone'],
  ['discord', '<@1> <#2> <t:0> <:a:1>', '\\<\\@1> \\<#2> \\<t:0> \\<\\:a:1>'],
  ['discord', 'add_to_cart', 'add\\_to\\_cart'],
  ['discord', '**x** ~~y~~ `z` ||s||', '\\*\\*x\\*\\* \\~\\~y\\~\\~ \\`z\\` \\|\\|s\\|\\|'],
  ['discord', '[here](https://evil.example)', '[here\\](https[:]//evil.example)'],
  ['discord', '# big', '\\# big'],
  ['discord', '> quote', '\\> quote'],
  ['discord', '- item', '\\- item'],
  ['discord', '1. item', '1\\. item'],
  ['discord', 'C:\\new', 'C:\\\\new'],
  ['teams', '[here](https://evil.example)', '[here\\](https[:]//evil.example)'],
  ['teams', 'add_to_cart', 'add_to_cart'],
  ['teams', '_it_ **bold**', '\\_it\\_ \\*\\*bold\\*\\*'],
  ['teams', '1. item', '1\\. item'],
  ['teams', '- item', '\\- item'],
  ['google_chat', '<users/all> <b>x</b> & y', '&lt;users/all&gt; &lt;b&gt;x&lt;/b&gt; &amp; y'],
  ['google_chat', '*bold* _it_', '*bold* _it_'],
]

for (const [service, value, escaped] of CASES) {
  test(`for ${service}, ${value} is written ${escaped}`, () => {
    const message = { ...opened, facts: [{ name: 'Tag', value }] }
    const payload = payloadOf(service, message, {
      publicUrl: PUBLIC_URL,
      at: AT,
      idempotencyKey: KEY,
      channel: CHANNEL,
    })
    ok(
      strings(payload).some((text) => text === escaped || text === `*Tag*\n${escaped}`),
      JSON.stringify(payload),
    )
  })
}

const LINK = 'https://evil.example/login'

test('no text that a sender or a watched page chose is a link, wherever a message says it', () => {
  const message: AlertMessage = {
    ...opened,
    alert: { ...opened.alert, title: `“${LINK}” fails`, message: `“${LINK}” failed: 398 of 1,284 (31 %)` },
    facts: [
      { name: 'Tag', value: LINK },
      { name: 'Event', value: 'evil.example/now' },
    ],
    change: `12 min after web container 41 → ${LINK}`,
    incident: {
      id: opened.alert.id,
      title: LINK,
      cause: 'tag',
      alerts: 2,
      note: `Cause found: “${LINK}”`,
      elsewhere: null,
      impact: { text: `3 of 9 ${LINK} (33 %)`, final: false },
    },
  }
  const options = { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL }
  const { text, html } = composeEmail(message, options)
  const said = PEOPLE.flatMap((service) => strings(payloadOf(service, message, options)))
  const links = [...said, text, html].flatMap((one) => one.match(/https:\/\/evil\S*|evil\.example\/\S*/g) ?? [])
  deepEqual(links, [])
})

test('a vendor whose name people have set is no link in the message about its incident', () => {
  const vendor = 'evil.example/now'
  const incident = { id: 'i', title: `${vendor} tags fail on 3 of 20 sites`, severity: 'critical' } as const
  const sites = [{ client: 'ACME', site: 'shop', since: AT }]
  const message: VendorMessage = {
    kind: 'vendor_opened',
    vendor,
    incident: { ...incident, started_at: AT, resolved_at: null },
    sites,
  }
  const { text } = composeEmail(message, { publicUrl: PUBLIC_URL, at: AT })
  deepEqual(text.match(/evil\.example\/\S*/gi), null)
})

const PEOPLE = ['slack', 'discord', 'teams', 'google_chat', 'pagerduty', 'opsgenie'] as const

test('the text that chat servers of one’s own show mentions no one and hides no address behind a word', () => {
  const names = ['@channel', '@all now', '<!here>', '<@U1>', '[sign in](evil.example)', '![x](evil.example)', 'a@b']
  const written = names.map((title) => {
    const message = { ...opened, alert: { ...opened.alert, title } }
    return (
      payloadOf('generic', message, { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL }) as {
        text: string
      }
    ).text
  })
  // Mattermost and Rocket.Chat read names after @, Slack's form of mentions, and Markdown.
  deepEqual(
    written.filter((text) => /@\w|<[!@#]|\]\(/.test(text)),
    [],
  )
})

test('for Google Chat, an address without TLS is text instead of a button, which takes https only', () => {
  const options = { publicUrl: 'http://tagwarden.internal:8080', at: AT, idempotencyKey: KEY, channel: CHANNEL }
  const payload = payloadOf('google_chat', opened, options)
  ok(!JSON.stringify(payload).includes('openLink'))
  ok(strings(payload).includes(`http://tagwarden.internal:8080/alerts/${opened.alert.id}`))
})

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}
