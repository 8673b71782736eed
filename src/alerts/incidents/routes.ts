import { type Static, Type } from 'typebox'
import {
  Allowance,
  errorResponses,
  type HttpApp,
  linkedEntries,
  seesAll,
  seesSecrets,
  visibleTo,
} from '../../http/index.ts'
import { contextOf } from '../../management/index.ts'
import { DeliveryRecord } from '../../notifications/index.ts'
import { Handling } from '../alert-record.ts'
import type { AlertRouteOptions } from '../routes.ts'
import { BY_HAND_PER_MINUTE } from '../timeline.ts'
import { addNote, handleIncident } from './handle-incident.ts'
import { listIncidents, readIncident } from './read-incidents.ts'
import {
  AddNote,
  IncidentParams,
  IncidentQuery,
  IncidentRecord,
  IncidentSummary,
  incidentDetail,
  incidentRecord,
  NoteRecord,
} from './records.ts'

const tags = ['Alerts']
const path = '/api/incidents/:incident_id'
const IncidentDetail = incidentDetail(DeliveryRecord)
export type IncidentDetail = Static<typeof IncidentDetail>

const VERBS = [
  {
    verb: 'acknowledge',
    summary: 'Acknowledge an incident',
    description:
      'Also acknowledges all of its alerts: someone is working on it, and no more reminders are sent. 409 when it is resolved, 429 after 30 changes of it in a minute.',
  },
  {
    verb: 'unacknowledge',
    summary: 'Withdraw the acknowledgement of an incident',
    description: 'Also withdraws those of its alerts: reminders resume. 409 when it is resolved.',
  },
  {
    verb: 'resolve',
    summary: 'Resolve an incident by hand',
    description:
      'Also resolves all of its alerts. The next bad result opens another incident. A resolved incident is not changed.',
  },
] as const

/** Adds the routes of incidents. */
export function incidentRoutes(app: HttpApp, options: AlertRouteOptions): void {
  const { store, clock, channelSettings } = options
  const allowance = new Allowance(BY_HAND_PER_MINUTE, 'changes of an incident', clock)

  app.get(
    '/api/incidents',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List incidents',
        description:
          'Each incident groups alerts with one cause. An incident that another one explains is listed too, with that one as `parent_id`: Today, the overview, digests and status pages ' +
          'leave it out if they show that one, unless it lasts longer. Newest first, or by `order`; a `Link` header with `rel="next"` leads to older ones.',
        querystring: IncidentQuery,
        response: {
          200: Type.Array(IncidentSummary, { description: 'Newest first, or by `order`' }),
        },
      },
    },
    async (request, reply) =>
      linkedEntries(request, reply, await listIncidents(store, visibleTo(request.access), request.query)),
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read an incident',
        description:
          'The incident with its alerts, why they belong together, its timeline, its notes, and the messages about it.',
        params: IncidentParams,
        response: { 200: IncidentDetail, ...errorResponses(404) },
      },
    },
    async ({ params, access }) => readIncident(store, params.incident_id, seesSecrets(access), seesAll(access)),
  )

  for (const { verb, summary, description } of VERBS) {
    app.post(
      `${path}/${verb}`,
      {
        schema: {
          tags,
          summary,
          description,
          params: IncidentParams,
          body: Handling,
          response: { 200: IncidentRecord, ...errorResponses(404, 409) },
        },
      },
      async (request) => {
        const { incident_id } = request.params
        const ctx = contextOf(options, request)
        allowance.take(incident_id)
        const { body, access } = request
        return incidentRecord(await handleIncident(ctx, channelSettings, incident_id, verb, body, seesAll(access)))
      },
    )
  }

  app.post(
    `${path}/notes`,
    {
      schema: {
        tags,
        summary: 'Add a note to an incident',
        description:
          'What was found, who was asked, what was done. The note also appears in the timeline. 409 after 200 notes.',
        params: IncidentParams,
        body: AddNote,
        response: { 201: NoteRecord, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addNote(contextOf(options, request), request.params.incident_id, request.body)),
  )
}
