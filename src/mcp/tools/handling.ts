import { Type } from 'typebox'
import { isoTime, MINUTE } from '../../lib/index.ts'
import { RefusedCall } from '../ask.ts'
import { changing, pick } from '../tool.ts'
import { closed, optionalId } from './inputs.ts'

const MOST_MINUTES = 30 * 24 * 60

const comment = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1_000, description: 'Why, for those who read the timeline' }),
)

export const acknowledge = changing({
  name: 'acknowledge',
  title: 'Acknowledge an incident or alert',
  description:
    'Says that someone is working on it, so that no more reminders are sent. Give incident_id (with all of its alerts) or alert_id. Needs a key that may change things; do it only when a person asks for it.',
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
  title: 'Silence notifications',
  description:
    'Keeps notifications back for a time, about one incident, probe, site or client: give exactly one of the ids. Needs a key that may change things; do it only when a person asks for it.',
  input: Type.Object(
    {
      incident_id: optionalId('An incident'),
      probe_id: optionalId('A probe'),
      site_id: optionalId('A site with its probes'),
      client_id: optionalId('A client with its sites'),
      minutes: Type.Integer({ minimum: 5, maximum: MOST_MINUTES, description: 'How long, from now on' }),
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
