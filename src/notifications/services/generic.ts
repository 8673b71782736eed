import { createHmac } from 'node:crypto'
import { isoTime, isoTimeOrNull, SECOND } from '../../lib/index.ts'
import { type CardOptions, oneLine, summaryOf } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import { type AlertMessage, type Message, type MessageGroup, type Severity, severityOfOwn } from '../message.ts'
import { type BodyOptions, type ChatService, isOver } from './service.ts'

/** Any webhook that is no known service. */
export const generic = {
  name: 'the webhook',
  title: 'The webhook',
  matches: () => true,
  paceMs: 0,
  body: genericPayload,
  headers: ({ idempotencyKey, at }, body, secret) => ({
    'idempotency-key': idempotencyKey,
    ...(secret === null ? {} : signatureHeaders(secret, body, at)),
  }),
  outcome: {
    repeatsReason: false,
    rules: [
      // Google's Apps Script has run by then; the redirect only leads to its output.
      { status: 302, reason: /^script\.googleusercontent\.com$/, kind: 'delivered', says: '' },
    ],
  },
} satisfies ChatService

/**
 * Returns the headers by which a receiver that knows the secret can verify that we sent the body, and when: a replayed request has
 * an old timestamp.
 *
 * @param at epoch ms; the header has whole seconds
 */
function signatureHeaders(secret: string, body: string, at: number): Record<string, string> {
  const timestamp = String(Math.floor(at / SECOND))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { 'x-tagwarden-timestamp': timestamp, 'x-tagwarden-signature': `sha256=${signature}` }
}

/**
 * Returns the body for an unknown service: what Alertmanager sends (version 4 of its webhook,
 * https://prometheus.io/docs/alerting/latest/configuration/#webhook_config), so that receivers of that accept it, plus everything
 * in our own fields. Nothing is cut. `text` is what several self-hosted chat servers show.
 */
function genericPayload(message: Message | MessageGroup, options: BodyOptions): object {
  const alertMessages = message.kind === 'group' ? message.messages : isAlertMessage(message) ? [message] : []
  const [only] = alertMessages.length === 1 ? alertMessages : []
  const entries =
    alertMessages.length === 0 ? otherEntries(message, options) : alertMessages.map((one) => alertEntry(one, options))
  return {
    version: '4',
    event: message.kind === 'group' ? message.of : message.kind,
    idempotency_key: options.idempotencyKey,
    // The signature covers it. Without it, a client's receiver could pass its messages on to others that know the same secret.
    channel: options.channel,
    sent_at: isoTime(options.at),
    status: isOver(message) ? 'resolved' : 'firing',
    text: textOf(message, options),
    receiver: 'tagwarden',
    groupKey: groupKeyOf(message),
    groupLabels: {},
    commonLabels: commonOf(entries.map(({ labels }) => labels)),
    commonAnnotations: commonOf(entries.map(({ annotations }) => annotations)),
    truncatedAlerts: 0,
    externalURL: options.publicUrl,
    alerts: entries,
    client: 'client' in message ? (message.client ?? null) : null,
    site: only === undefined ? null : siteOf(only, options),
    alert: only === undefined ? null : alertOf(only, options),
    probe_result: only === undefined ? null : resultOf(only),
    ...(only === undefined ? {} : incidentOf(only)),
  }
}

interface Entry {
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
}

const isAlertMessage = (message: Message | MessageGroup): message is AlertMessage => 'alert' in message

function textOf(message: Message | MessageGroup, options: CardOptions): string {
  const card = cardOf(message, options)
  return [...[summaryOf(card), ...card.lines.map(({ text }) => text)].map(unmarked), card.link.url].join('\n')
}

/**
 * Breaks mentions (`@channel`, `<!here>`) and links of Markdown, because anyone who sends events chooses their names. The space
 * without width is what all chat servers leave unseen; each shows the escapes of others.
 */
const unmarked = (text: string): string => text.replace(/@|<(?=[!@#])|\](?=\()/g, '$&\u200b')

function groupKeyOf(message: Message | MessageGroup): string {
  if (message.kind === 'group') return `client:${message.client?.id ?? 'all'}:${message.of}`
  if (isAlertMessage(message)) return `alert:${message.alert.id}`
  if ('vendor' in message) return `incident:${message.incident.id}`
  return 'part' in message ? `own:${message.part}` : `${message.kind}:${message.client.id}`
}

const alertEntry = (message: AlertMessage, options: CardOptions) => ({
  status: message.kind === 'resolved' ? 'resolved' : 'firing',
  labels: labelsOf(message),
  annotations: { summary: message.alert.title, description: message.alert.message },
  startsAt: isoTime(message.alert.since),
  // What Alertmanager writes for an unresolved alert.
  endsAt: message.alert.resolved_at === null ? '0001-01-01T00:00:00Z' : isoTime(message.alert.resolved_at),
  generatorURL: alertUrl(message, options),
  fingerprint: message.alert.id,
  site: siteOf(message, options),
  alert: alertOf(message, options),
  probe_result: resultOf(message),
  ...incidentOf(message),
})

const labelsOf = ({ alert, client, site, probe }: AlertMessage) => ({
  alertname: probe.probe_type,
  severity: alert.severity as string,
  client: client.name,
  client_id: client.id,
  site: site.name,
  site_id: site.id,
  probe: probe.name,
  probe_id: probe.id,
})

/** Returns the entries of messages that are about no alert: tests, quotas, vendors' incidents and Tagwarden's own failures. */
function otherEntries(message: Message | MessageGroup, options: CardOptions) {
  const { publicUrl, at } = options
  if (message.kind === 'test') {
    const labels = {
      alertname: 'tagwarden_test',
      severity: 'info',
      client: message.client.name,
      client_id: message.client.id,
    }
    return [otherEntry(labels, 'Test message', `Sent by hand by ${oneLine(message.asked_by)}`, at, null, publicUrl)]
  }
  if (message.kind === 'quota') {
    const labels = {
      alertname: 'tagwarden_quota',
      severity: (message.step === 100 ? 'critical' : 'warning') satisfies Severity as string,
      client: message.client.name,
      client_id: message.client.id,
    }
    const { heading, what } = cardOf(message, options)
    return [otherEntry(labels, heading, what, message.seen_at, null, publicUrl)]
  }
  if ('vendor' in message) {
    const { incident, vendor } = message
    const labels = {
      alertname: 'tagwarden_vendor',
      severity: incident.severity as string,
      vendor,
      incident_id: incident.id,
    }
    const { title, started_at, resolved_at } = incident
    return [otherEntry(labels, title, title, started_at, resolved_at, publicUrl)]
  }
  if (message.kind !== 'own_failure' && message.kind !== 'own_recovery') return []
  const labels = {
    alertname: 'tagwarden_own_failure',
    severity: severityOfOwn(message),
    part: message.part,
    node: message.node,
  }
  const end = message.kind === 'own_recovery' ? at : null
  return [otherEntry(labels, message.message, message.message, message.since, end, publicUrl)]
}

function otherEntry(
  labels: Readonly<Record<string, string>>,
  summary: string,
  description: string,
  start: number,
  end: number | null,
  url: string,
) {
  return {
    status: end === null ? 'firing' : 'resolved',
    labels,
    annotations: { summary, description },
    startsAt: isoTime(start),
    endsAt: end === null ? '0001-01-01T00:00:00Z' : isoTime(end),
    generatorURL: url,
    fingerprint: Object.values(labels).join(':'),
  }
}

const alertUrl = ({ alert }: AlertMessage, { publicUrl }: CardOptions): string =>
  `${publicUrl}/alerts/${encodeURIComponent(alert.id)}`

const alertOf = (message: AlertMessage, options: CardOptions) => ({
  ...message.alert,
  since: isoTime(message.alert.since),
  opened_at: isoTime(message.alert.opened_at),
  resolved_at: isoTimeOrNull(message.alert.resolved_at),
  change: message.change,
  ...(message.on_call === undefined ? {} : { on_call: message.on_call }),
  dashboard_url: alertUrl(message, options),
})

const incidentOf = ({ incident }: AlertMessage) => (incident === undefined ? {} : { incident })

const siteOf = ({ site }: AlertMessage, { publicUrl }: CardOptions) => ({
  ...site,
  dashboard_url: `${publicUrl}/sites/${encodeURIComponent(site.id)}`,
})

/** Returns the last bad result. */
const resultOf = ({ alert, probe, facts }: AlertMessage) => ({
  probe_id: probe.id,
  probe_name: probe.name,
  probe_type: probe.probe_type,
  status: alert.severity,
  message: alert.message,
  facts,
})

/** Returns the labels that all entries share. */
function commonOf(all: readonly Entry['labels'][]): Record<string, string> {
  const [first = {}, ...others] = all
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  )
}
