import { Type } from 'typebox'
import { isoTime, MINUTE } from '../../lib/index.ts'
import { RefusedCall } from '../ask.ts'
import {
  before,
  changing,
  closed,
  entriesOf,
  id,
  limit,
  optionalId,
  pageOf,
  partsOf,
  pick,
  pickAll,
  reading,
  rowsOf,
} from '../tool.ts'

const filters = {
  client_id: optionalId('Only of this client'),
  site_id: optionalId('Only of this site'),
  resolved: Type.Optional(
    Type.Boolean({ description: 'true: only resolved ones; false: only unresolved ones, acknowledged or not' }),
  ),
  severity: Type.Optional(Type.Enum(['warning', 'critical'])),
  limit,
  before,
}

export const INCIDENT_FIELDS = [
  ...['id', 'scope', 'client_id', 'site_id', 'title', 'severity', 'state', 'cause', 'vendor', 'started_at'],
  ...['acknowledged_at', 'acknowledged_by', 'resolved_at', 'alert_count', 'site_count', 'parent_id'],
]
const ALERT_FIELDS = [
  ...['id', 'client_id', 'site_id', 'probe_id', 'incident_id', 'probe_type', 'subject_label', 'severity', 'state'],
  ...['title', 'message', 'started_at', 'opened_at', 'resolved_at', 'acknowledged_by'],
]

export const listIncidents = reading({
  name: 'list_incidents',
  title: 'List incidents',
  description:
    'What is or was broken, newest first: alerts of one cause are one incident, and one with a `parent_id` is a part of that incident. Use resolved: false for those that last.',
  input: Type.Object(filters, closed),
  async run({ limit: rows, ...query }, { ask }) {
    return pageOf(
      (limit) => ask('GET', '/api/incidents', { query: { ...query, limit } }),
      INCIDENT_FIELDS,
      rowsOf(rows),
    )
  },
})

export const listAlerts = reading({
  name: 'list_alerts',
  title: 'List alerts',
  description:
    'The single alerts that incidents are made of, newest first: one for each check, tag, event or field that is bad.',
  input: Type.Object(filters, closed),
  async run({ limit: rows, ...query }, { ask }) {
    return pageOf((limit) => ask('GET', '/api/alerts', { query: { ...query, limit } }), ALERT_FIELDS, rowsOf(rows))
  },
})

/** Entries of each list in an incident. */
const MOST_PARTS = 30

export const explainIncident = reading({
  name: 'explain_incident',
  title: 'Explain an incident',
  description:
    'Everything known about one incident: what it costs, its likely cause with the evidence, what changed shortly before, its alerts, its timeline and notes.',
  input: Type.Object({ incident_id: id('The incident') }, closed),
  async run({ incident_id }, { ask }) {
    const incident = await ask('GET', `/api/incidents/${incident_id}`)
    const { alerts, timeline, notes, affected, evidence } = pick(incident, [
      ...['alerts', 'timeline', 'notes', 'affected', 'evidence'],
    ])
    const facts = ['impact', 'likely_cause', 'likely_cause_kind', 'change', 'change_at']
    return {
      ...pick(incident, [...INCIDENT_FIELDS, ...facts]),
      ...partsOf(
        MOST_PARTS,
        {
          evidence: Array.isArray(evidence) ? evidence : [],
          alerts: pickAll(alerts, ALERT_FIELDS),
          affected: entriesOf(affected),
        },
        { timeline: entriesOf(timeline), notes: entriesOf(notes) },
      ),
    }
  },
})

const MOST_MINUTES = 30 * 24 * 60

const comment = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1_000, description: 'Reason, shown in the timeline' }),
)

export const acknowledge = changing({
  name: 'acknowledge',
  isIdempotent: true,
  title: 'Acknowledge an incident or alert',
  description:
    'Says that someone is working on it, so that no more reminders are sent. Give incident_id (with all of its alerts) or alert_id. Requires a key that may change data; do it only when a person asks for it.',
  input: Type.Object(
    { incident_id: optionalId('The incident'), alert_id: optionalId('Or a single alert'), comment },
    closed,
  ),
  async run({ incident_id, alert_id, comment: text }, { ask }) {
    if ((incident_id === undefined) === (alert_id === undefined)) {
      throw new RefusedCall(400, 'Give either incident_id or alert_id', null)
    }
    const path = incident_id === undefined ? `/api/alerts/${alert_id}` : `/api/incidents/${incident_id}`
    const record = await ask('POST', `${path}/acknowledge`, { body: text === undefined ? {} : { comment: text } })
    return pick(record, ['id', 'title', 'state', 'severity', 'acknowledged_at', 'acknowledged_by'])
  },
})

export const silence = changing({
  name: 'silence',
  isIdempotent: false,
  title: 'Silence notifications',
  description:
    'Holds notifications back for a time, for one incident, probe, site or client: give exactly one of the ids. Requires a key that may change data; do it only when a person asks for it.',
  input: Type.Object(
    {
      incident_id: optionalId('An incident'),
      probe_id: optionalId('A probe'),
      site_id: optionalId('A site with its probes'),
      client_id: optionalId('A client with its sites'),
      minutes: Type.Integer({ minimum: 5, maximum: MOST_MINUTES, description: 'Minutes from now' }),
      comment,
    },
    closed,
  ),
  async run({ minutes, ...scope }, { ask, now }) {
    const body = { ...scope, ends_at: isoTime(now + minutes * MINUTE) }
    const names = ['id', 'incident_id', 'probe_id', 'site_id', 'client_id', 'starts_at', 'ends_at', 'state']
    return pick(await ask('POST', '/api/silences', { body }), names)
  },
})
