import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { composeEmail } from '../../../src/notifications/email/compose.ts'
import type { Message } from '../../../src/notifications/message.ts'
import { equalGolden } from '../services/golden.ts'
import { AT, digest, opened, PUBLIC_URL, SAMPLES } from '../services/samples.ts'

const options = { publicUrl: PUBLIC_URL, at: AT, unsubscribeUrl: `${PUBLIC_URL}/status/digests/SECRET` }

test('each kind of message reads as it was found good, as text and as HTML', () => {
  for (const [name, message] of Object.entries(SAMPLES)) {
    const { subject, text, html } = composeEmail(message, options)
    equalGolden(import.meta.dirname, `${name}.txt`, `Subject: ${subject}\n\n${text}`)
    equalGolden(import.meta.dirname, `${name}.html.txt`, html)
  }
})

test('the subject says how bad it is, where and what watches it, in one line without a space at its end', () => {
  equal(composeEmail(opened, options).subject, '[CRITICAL] shop.acme.com — Tag failures')
  const odd = { ...opened, probe: { ...opened.probe, name: 'Tags \r\nBcc: everybody@example.com \n' } }
  equal(composeEmail(odd, options).subject, '[CRITICAL] shop.acme.com — Tags Bcc: everybody@example.com')
})

test('a digest says what was wrong before how much came', () => {
  const { text, html } = composeEmail(SAMPLES.digest as Message, options)
  for (const said of [text, html]) {
    const [wrong, came] = [said.indexOf('Meta CAPI fails on 31 %'), said.indexOf('1,284,220')]
    ok(wrong > 0 && wrong < came)
  }
})

test('a digest leads to each of its incidents, in its text too', () => {
  const incidents = digest.incidents.map(({ id }) => `${options.publicUrl}/incidents/${id}`)
  const { text, html } = composeEmail(digest, options)
  ok(incidents.length > 1 && incidents.every((url) => text.includes(`${url}\n`) && html.includes(`"${url}"`)))
})

test('the cause that was found is not quoted under itself', () => {
  const { id, message: said } = opened.alert
  const alert = { ...opened.alert, title: 'The tag server does not answer' }
  const incident = { id, title: alert.title, cause: 'server', alerts: 2, elsewhere: null } as const
  const textOf = (note: string) =>
    composeEmail({ ...opened, kind: 'explained', alert, incident: { ...incident, note } }, options).text
  const lone = textOf('Cause found: “The tag server does not answer”')
  ok(!lone.includes('Cause found'))
  ok(lone.includes(`Only the cause is new.\n${said}`))
  match(textOf('Cause found: “The certificate expired”'), /^Cause found: “The certificate expired”\.$/m)
})

test('names that look like HTML are shown as they are', () => {
  const odd = { ...opened, site: { ...opened.site, name: '<img src=x onerror="alert(1)">' } }
  const { html } = composeEmail(odd, options)
  ok(!html.includes('<img'))
  match(html, /&lt;img src=x onerror=&quot;alert\(1\)&quot;&gt;/)
})

test('no e-mail loads anything from anywhere', () => {
  for (const message of Object.values(SAMPLES)) {
    ok(!/<(img|link|script|iframe)\b|url\(|@import/i.test(composeEmail(message, options).html))
  }
})

test('what changed before is a sentence, and a new version is not said to have begun after itself', () => {
  const change = '12 min after web container 41 → 42'
  match(composeEmail({ ...opened, change }, options).text, /^It began 12 min after web container 41 → 42\.$/m)
  const version = { ...opened, change, probe: { ...opened.probe, probe_type: 'tag_manager_version' } }
  ok(!composeEmail(version, options).text.includes('12 min after'))
})
