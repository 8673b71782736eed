import { type Static, Type } from 'typebox'
import {
  Allowance,
  errorResponses,
  type HttpApp,
  linkedEntries,
  NoContent,
  seesSecrets,
  visibleTo,
} from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import { contextOf } from '../management/index.ts'
import { type ChannelSettings, DeliveryRecord } from '../notifications/index.ts'
import type { Store } from '../store/index.ts'
import {
  AlertParams,
  AlertQuery,
  AlertRecord,
  alertDetail,
  alertRecord,
  FeedbackRecord,
  GiveFeedback,
  Handling,
} from './alert-record.ts'
import { giveFeedback, withdrawFeedback } from './feedback.ts'
import { acknowledgeAlert, resolveAlert, unacknowledgeAlert } from './handle-alert.ts'
import { listAlerts, readAlert } from './read-alerts.ts'
import { BY_HAND_PER_MINUTE } from './timeline.ts'

export interface AlertRouteOptions {
  store: Store
  clock: Clock
  channelSettings: ChannelSettings
}

const tags = ['Alerts']
const path = '/api/alerts/:alert_id'
const AlertDetail = alertDetail(DeliveryRecord)
export type AlertDetail = Static<typeof AlertDetail>

const VERBS = [
  {
    verb: 'acknowledge',
    handle: acknowledgeAlert,
    summary: 'Acknowledge an alert',
    description:
      'Someone is working on it: no more reminders are sent. 409 when it is resolved, 429 after 30 changes of it in a minute.',
  },
  {
    verb: 'unacknowledge',
    handle: unacknowledgeAlert,
    summary: 'Withdraw an acknowledgement',
    description: 'Reminders resume. An alert that is not acknowledged is not changed; 409 when it is resolved.',
  },
  {
    verb: 'resolve',
    handle: resolveAlert,
    summary: 'Resolve an alert by hand',
    description: 'The next bad result opens another alert. A resolved alert is not changed.',
  },
] as const

/** Adds the routes of alerts. */
export function alertRoutes(app: HttpApp, options: AlertRouteOptions): void {
  const { store, clock, channelSettings } = options
  const allowance = new Allowance(BY_HAND_PER_MINUTE, 'changes of an alert', clock)

  app.get(
    '/api/alerts',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List alerts',
        description: 'Newest first, or by `order`. A `Link` header with `rel="next"` leads to older ones.',
        querystring: AlertQuery,
        response: {
          200: Type.Array(AlertRecord, { description: 'Newest first, or by `order`' }),
        },
      },
    },
    async (request, reply) =>
      linkedEntries(request, reply, await listAlerts(store, visibleTo(request.access), request.query)),
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read an alert',
        description: 'The alert with what explains it, its timeline, and the messages about it.',
        params: AlertParams,
        response: { 200: AlertDetail, ...errorResponses(404) },
      },
    },
    async (request) => readAlert(store, request.params.alert_id, seesSecrets(request.access)),
  )

  for (const { verb, handle, summary, description } of VERBS) {
    app.post(
      `${path}/${verb}`,
      {
        schema: {
          tags,
          summary,
          description,
          params: AlertParams,
          body: Handling,
          response: { 200: AlertRecord, ...errorResponses(404, 409) },
        },
      },
      async (request) => {
        const { alert_id } = request.params
        allowance.take(alert_id)
        return alertRecord(await handle(contextOf(options, request), channelSettings, alert_id, request.body))
      },
    )
  }

  app.post(
    `${path}/feedback`,
    {
      schema: {
        tags,
        summary: 'Say whether an alert was right',
        description:
          'The probes of the site learn from it, see docs/detection.md. Feedback that is given again replaces the earlier one. ' +
          '409 for alerts that no probe learns from: all except those of data_volume and data_freshness.',
        params: AlertParams,
        body: GiveFeedback,
        response: { 200: FeedbackRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const { alert_id } = request.params
      allowance.take(alert_id)
      return giveFeedback(contextOf(options, request), alert_id, request.body)
    },
  )

  app.delete(
    `${path}/feedback`,
    {
      schema: {
        tags,
        summary: 'Withdraw feedback on an alert',
        description: 'The probes judge as if it had never been given.',
        params: AlertParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await withdrawFeedback(contextOf(options, request), request.params.alert_id)
      return reply.code(204).send(null)
    },
  )
}
