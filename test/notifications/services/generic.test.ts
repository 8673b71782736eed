import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { payloadOf } from '../../../src/notifications/services/services.ts'
import { documentedExample, documentedFields } from './documented.ts'
import { AT, CHANNEL, KEY, opened, PUBLIC_URL, resolved, SAMPLES } from './samples.ts'

const options = { publicUrl: PUBLIC_URL, at: AT, idempotencyKey: KEY, channel: CHANNEL }

interface Body {
  status: string
  event: string
  groupKey: string
  alert: object | null
  commonLabels: Record<string, string>
  alerts: { status: string; fingerprint: string; alert?: object }[]
}

const bodyOf = (name: string) => payloadOf('generic', SAMPLES[name] ?? opened, options) as Body

test('the webhook sends what docs/alerts.md shows, and in each of `alerts` what stands beside them', () => {
  const incident = {
    ...{ id: '019a9f6c-4a40-7000-8000-0000000000b0', title: opened.alert.title, cause: 'tag', alerts: 1 },
    ...{ note: null, elsewhere: null, impact: null },
    likely_cause: 'Web container 41 → 42 was published 12 min before it began',
  }
  const sent = payloadOf('generic', { ...opened, incident }, options) as Record<string, unknown>
  const { site, alert, probe_result } = sent
  const shown = JSON.parse(documentedExample('json')) as { alerts: object[] }
  const alerts = shown.alerts.map((entry) => ({ ...entry, site, alert, probe_result, incident }))
  deepEqual(sent, { ...shown, alerts })
})

test('docs/alerts.md names every event and every field that is not one of Alertmanager', () => {
  const documented = documentedFields()
  const ended = { ...resolved, alert: { ...resolved.alert, down_ms: 60_000 } }
  const messages = { ...SAMPLES, ended }
  const named = new Set<string>()
  for (const message of Object.values(messages)) {
    const { event, idempotency_key, channel, sent_at, client, site, alert, probe_result, incident, commonLabels } =
      payloadOf('generic', message, options) as Record<string, unknown>
    // Only channels that page people get these.
    if (['acknowledged', 'unacknowledged', 'daily', 'weekly', 'digest'].includes(String(event))) continue
    named.add(String(event))
    const { alertname = '' } = (commonLabels ?? {}) as Record<string, string>
    if (alertname.startsWith('tagwarden_')) named.add(alertname)
    for (const name of namesIn({ idempotency_key, channel, sent_at, client, site, alert, probe_result, incident }))
      named.add(name)
  }
  ok(named.size > 40, `only ${named.size} were found`)
  deepEqual(
    [...named].filter((name) => !documented.includes(`\`${name}\``)),
    [],
  )
})

/** The names of all fields in a value, at any depth. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value)
    ? []
    : Object.entries(value).flatMap(([name, inner]) => (inner === undefined ? [] : name))
  return [...own, ...Object.values(value).flatMap(namesIn)]
}

test('an alert keeps its group key and fingerprint from its opening to its end', () => {
  const [first, last] = [bodyOf('opened'), bodyOf('resolved')]
  deepEqual([first.status, last.status], ['firing', 'resolved'])
  deepEqual([last.groupKey, last.alerts[0]?.fingerprint], [first.groupKey, first.alerts[0]?.fingerprint])
})

test('a group has every alert in full, and in common what is the same in all', () => {
  const { event, alert, alerts, commonLabels } = bodyOf('group')
  deepEqual([event, alert, alerts.length], ['opened', null, 12])
  deepEqual(
    alerts.every((entry) => entry.alert !== undefined),
    true,
  )
  deepEqual(Object.keys(commonLabels), ['alertname', 'client', 'client_id'])
})

test('a test message, a quota and our own failures are entries of their own, so that receivers do show them', () => {
  for (const [name, status] of [
    ['test', 'firing'],
    ['quota_near', 'firing'],
    ['own_failure', 'firing'],
    ['own_recovery', 'resolved'],
    ['vendor_opened', 'firing'],
    ['vendor_resolved', 'resolved'],
  ] as const) {
    deepEqual(
      bodyOf(name).alerts.map((entry) => entry.status),
      [status],
    )
  }
})
