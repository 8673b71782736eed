import { Type } from 'typebox'
import { entriesOf, pick, pickAll, reading } from '../tool.ts'
import { before, closed, id, limit, optionalId, rowsOf } from './inputs.ts'

const filters = {
  client_id: optionalId('Only of this client'),
  site_id: optionalId('Only of this site'),
  resolved: Type.Optional(Type.Boolean({ description: 'true: only resolved ones; false: only open ones' })),
  severity: Type.Optional(Type.Enum(['warning', 'critical'])),
  limit,
  before,
}

export const INCIDENT_FIELDS = [
  ...['id', 'scope', 'client_id', 'site_id', 'title', 'severity', 'state', 'cause', 'vendor', 'started_at'],
  ...['acknowledged_at', 'acknowledged_by', 'resolved_at', 'alert_count', 'site_count'],
]
const ALERT_FIELDS = [
  ...['id', 'client_id', 'site_id', 'probe_id', 'incident_id', 'probe_type', 'subject_label', 'severity', 'state'],
  ...['title', 'message', 'started_at', 'opened_at', 'resolved_at', 'acknowledged_by'],
]

async function pageOf(list: Promise<unknown>, names: readonly string[], rows: number) {
  const entries = entriesOf(await list)
  return {
    entries: pickAll(entries, names),
    next_before: entries.length < rows ? null : (entries.at(-1)?.id ?? null),
  }
}

export const listIncidents = reading({
  name: 'list_incidents',
  title: 'List incidents',
  description:
    'What is or was broken, newest first: alerts of one cause are one incident. Use resolved: false for what is open now.',
  input: Type.Object(filters, closed),
  async run({ limit: rows, ...query }, { ask }) {
    const most = rowsOf(rows)
    return pageOf(ask('GET', '/api/incidents', { query: { ...query, limit: most } }), INCIDENT_FIELDS, most)
  },
})

export const listAlerts = reading({
  name: 'list_alerts',
  title: 'List alerts',
  description:
    'The single alerts that incidents are made of, newest first: one for each check, tag, event or field that is bad.',
  input: Type.Object(filters, closed),
  async run({ limit: rows, ...query }, { ask }) {
    const most = rowsOf(rows)
    return pageOf(ask('GET', '/api/alerts', { query: { ...query, limit: most } }), ALERT_FIELDS, most)
  },
})

/** Of each list in an incident. */
const MOST_PARTS = 30

export const explainIncident = reading({
  name: 'explain_incident',
  title: 'Explain an incident',
  description:
    'Everything known of one incident: what it costs, its likely cause with the evidence, what changed shortly before, its alerts, its timeline and notes.',
  input: Type.Object({ incident_id: id('The incident') }, closed),
  async run({ incident_id }, { ask }) {
    const incident = await ask('GET', `/api/incidents/${incident_id}`)
    const { alerts, timeline, notes, affected, evidence } = pick(incident, [
      ...['alerts', 'timeline', 'notes', 'affected', 'evidence'],
    ])
    const facts = ['impact', 'likely_cause', 'likely_cause_kind', 'change', 'change_at', 'parent_id']
    return {
      ...pick(incident, [...INCIDENT_FIELDS, ...facts]),
      evidence: Array.isArray(evidence) ? evidence.slice(0, MOST_PARTS) : [],
      alerts: pickAll(alerts, ALERT_FIELDS).slice(0, MOST_PARTS),
      affected: entriesOf(affected).slice(0, MOST_PARTS),
      timeline: entriesOf(timeline).slice(-MOST_PARTS),
      notes: entriesOf(notes).slice(-MOST_PARTS),
    }
  },
})
