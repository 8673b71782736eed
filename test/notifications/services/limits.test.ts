import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AlertMessage, Message, MessageGroup } from '../../../src/notifications/message.ts'
import { DISCORD_LIMITS } from '../../../src/notifications/services/discord.ts'
import { GOOGLE_CHAT_MAX_BYTES } from '../../../src/notifications/services/google-chat.ts'
import { bodyOf, SERVICES, type Service } from '../../../src/notifications/services/services.ts'
import { SLACK_LIMITS } from '../../../src/notifications/services/slack.ts'
import { TEAMS_MAX_BYTES } from '../../../src/notifications/services/teams.ts'
import { amount } from '../../../testkit/length.ts'
import { AT, CHANNEL, digest, KEY, opened, PUBLIC_URL, quota, resolved, SAMPLES } from './samples.ts'

interface TextObject {
  type: string
  text: string
}

interface SlackBody {
  text: string
  blocks: { type: string; text: TextObject }[]
  attachments: {
    fallback: string
    blocks: { type: string; text?: TextObject; fields?: TextObject[]; elements?: { text: unknown; url?: string }[] }[]
  }[]
}

interface DiscordBody {
  allowed_mentions: { parse: string[] }
  embeds: {
    title: string
    description: string
    footer?: { text: string }
    fields: { name: string; value: string }[]
  }[]
}

const between = (text: string, max: number, what: string) =>
  ok(text.length > 0 && text.length <= max, `${what} has ${text.length} of ${max} characters`)

const CHECKS: Readonly<Record<Service, (body: string) => void>> = {
  slack(text) {
    const body = JSON.parse(text) as SlackBody
    between(body.text, SLACK_LIMITS.section, 'text')
    for (const block of body.blocks) between(block.text.text, SLACK_LIMITS.header, block.type)
    equal(body.attachments.length, 1)
    for (const { blocks, fallback } of body.attachments) {
      between(fallback, SLACK_LIMITS.section, 'fallback')
      for (const { type, text: section, fields = [] } of blocks) {
        if (section !== undefined) between(section.text, SLACK_LIMITS.section, type)
        ok(fields.length <= SLACK_LIMITS.fields)
        for (const field of fields) between(field.text, SLACK_LIMITS.field, 'field')
      }
    }
    // Nothing that begins a mention or a link.
    ok(!/<[!@#]|<http/.test(text))
  },
  discord(text) {
    const body = JSON.parse(text) as DiscordBody
    deepEqual(body.allowed_mentions, { parse: [] })
    let total = 0
    for (const { title, description, fields, footer } of body.embeds) {
      between(title, DISCORD_LIMITS.title, 'title')
      between(description, DISCORD_LIMITS.description, 'description')
      ok(fields.length <= DISCORD_LIMITS.fields)
      for (const { name, value } of fields) {
        between(name, DISCORD_LIMITS.fieldName, 'name')
        between(value, DISCORD_LIMITS.fieldValue, 'value')
        total += name.length + value.length
      }
      if (footer !== undefined) between(footer.text, DISCORD_LIMITS.footer, 'footer')
      total += title.length + description.length + (footer?.text.length ?? 0)
    }
    ok(total <= DISCORD_LIMITS.total, `${total} characters in all`)
  },
  pagerduty(text) {
    const { dedup_key, event_action, payload } = JSON.parse(text) as {
      dedup_key: string
      event_action: string
      payload?: { summary: string; source: string; component?: string; group?: string }
    }
    between(dedup_key, 255, 'dedup_key')
    if (event_action !== 'trigger') return
    between(payload?.summary ?? '', 1_024, 'summary')
    between(payload?.source ?? '', 255, 'source')
    for (const name of [payload?.source, payload?.component, payload?.group]) ok(!/\p{Cc}/u.test(name ?? ''), name)
  },
  opsgenie(text) {
    const { message, alias, description, note } = JSON.parse(text) as Readonly<Record<string, string | undefined>>
    if (note !== undefined) return between(note, 25_000, 'note')
    between(message ?? '', 130, 'message')
    between(alias ?? '', 512, 'alias')
    between(description ?? '', 15_000, 'description')
  },
  teams: (text) => ok(Buffer.byteLength(text) <= TEAMS_MAX_BYTES, `${Buffer.byteLength(text)} bytes`),
  google_chat: (text) => ok(Buffer.byteLength(text) <= GOOGLE_CHAT_MAX_BYTES, `${Buffer.byteLength(text)} bytes`),
  generic: (text) => ok(text.length > 0),
}

function check(message: Message | MessageGroup): void {
  for (const service of SERVICES) {
    const body = bodyOf(service, message, { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL })
    // An escape of half a character would be one of those that some readers refuse.
    ok(!/\\ud[89a-f]/i.test(body), `${service} has half a character`)
    CHECKS[service](body)
  }
}

test('names of any length leave room on a lock screen, and in the line of an on-call service, for what is wrong', () => {
  const long = 'Shop of the northern countries '.repeat(7).slice(0, 200)
  const { alert, site, probe } = opened
  const message = { ...opened, site: { ...site, name: long }, probe: { ...probe, name: long } }
  const options = { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL }
  const { text } = JSON.parse(bodyOf('slack', message, options)) as SlackBody
  const line = (JSON.parse(bodyOf('opsgenie', message, options)) as { message: string }).message
  for (const shown of [text, line]) ok(shown.slice(0, 130).includes(alert.title), shown)
  ok(!line.includes('……'))
})

test('every sample keeps within the limits of every service', () => {
  for (const message of Object.values(SAMPLES)) check(message)
})

/** Of one kind of character each: the lengths of their bytes and of what stands for them when escaped differ most. */
const EXTREMES = [
  '&',
  '<',
  '"',
  '\\',
  '*',
  '_',
  '`',
  '@everyone ',
  '字',
  '😀',
  '\n',
  '\u0001',
  '\ud83d',
  '- x\n',
  'word ',
]

for (const unit of EXTREMES) {
  test(`texts of nothing but ${JSON.stringify(unit)}, far too long, keep within the limits`, () => {
    const long = unit.repeat(5_000 / unit.length)
    const message = filled(opened, long)
    check(message)
    check({ ...filled(resolved, long), kind: 'resolved' })
    check({ kind: 'group', of: 'opened', client: message.client, messages: Array.from({ length: 20 }, () => message) })
    check({ kind: 'test', client: message.client, asked_by: long })
    check({ kind: 'own_failure', part: long, message: long, since: AT, node: long })
    check({ ...quota, client: message.client })
    check({ ...digest, client: message.client, sites: digest.sites.map((site) => ({ ...site, name: long })) })
  })
}

function filled(message: AlertMessage, text: string): AlertMessage {
  return {
    ...message,
    alert: { ...message.alert, title: text, message: text, resolved_by: text },
    client: { ...message.client, name: text },
    site: { ...message.site, name: text, url: `https://example.com/${text}` },
    probe: { ...message.probe, name: text },
    facts: Array.from({ length: 8 }, () => ({ name: text, value: text })),
    change: text,
  }
}

test('any text whatever keeps within the limits', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: fc.constantFrom(...EXTREMES, 'a', ' ', ':', '](', '1. ', '||', '~~'), maxLength: 800 }),
  )
  fc.assert(
    fc.property(text, text, text, (title, message, name) => {
      const one = filled(opened, name)
      check({ ...one, alert: { ...one.alert, title, message } })
      check({ kind: 'group', of: 'opened', client: one.client, messages: [one, one, { ...one, change: null }] })
    }),
    { numRuns: amount(25, 200) },
  )
})

test('a message of 5,000 characters ends at a word, with dots', () => {
  const message = 'The tag server answers with an error page instead of the script. '.repeat(80)
  const body = JSON.parse(
    bodyOf(
      'slack',
      { ...opened, alert: { ...opened.alert, message } },
      { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL },
    ),
  ) as SlackBody
  const section = body.attachments[0]?.blocks[0]?.text?.text ?? ''
  ok(section.length > 2_900)
  ok(/ (the|tag|server|answers|with|an|error|page|instead|of|script|The)…$/.test(section), section.slice(-40))
})
