import { Type } from 'typebox'
import { errorResponses, type HttpApp, linkedEntries } from '../../http/index.ts'
import { contextOf } from '../../management/index.ts'
import { onCallRoutes } from '../on-call/routes.ts'
import { listChannels, sendTestMessages, TestLimits } from './channels.ts'
import { listDeliveries, retryDelivery } from './deliveries.ts'
import { digestReaderRoutes } from './digest-readers.ts'
import { type NotificationRouteOptions, ownChannelRoutes } from './own-channel-routes.ts'
import { ChannelList, DeliveryParams, DeliveryQuery, DeliveryRecord, TestParams, TestResult } from './schemas.ts'

const tags = ['Notifications']

/** Adds the routes of notifications: the delivery log, channels, test messages and on-call rotations. */
export function notificationRoutes(app: HttpApp, options: NotificationRouteOptions): void {
  const { store, clock, notifications } = options
  const testLimits = new TestLimits(clock)
  ownChannelRoutes(app, options, testLimits)
  onCallRoutes(app, options)
  digestReaderRoutes(app, options)

  app.get(
    '/api/deliveries',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List deliveries',
        description:
          'Sent and waiting messages, one entry per message and channel, newest first. A `Link` header with ' +
          '`rel="next"` leads to older ones.',
        querystring: DeliveryQuery,
        response: { 200: Type.Array(DeliveryRecord, { description: 'Newest first' }) },
      },
    },
    async (request, reply) => linkedEntries(request, reply, await listDeliveries(store, request.query, request.access)),
  )

  app.post(
    '/api/deliveries/:delivery_id/retry',
    {
      schema: {
        tags,
        summary: 'Retry a delivery',
        description:
          'Sends a failed or waiting message as soon as possible, with all messages of its client that are combined with it. A channel that is ' +
          'off is tried again; the one for all clients only if the caller is an editor of all of them. 409 when it was delivered or cancelled.',
        params: DeliveryParams,
        response: { 200: DeliveryRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const record = await retryDelivery(contextOf(options, request), request.params.delivery_id, request.access)
      notifications.wake()
      return record
    },
  )

  app.get(
    '/api/channels',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List channels',
        description: "Where messages go: the global webhook and the clients' own channels, with the state of each.",
        response: { 200: ChannelList },
      },
    },
    async (request) => listChannels(store, notifications.channelSettings, request.access),
  )

  app.post(
    '/api/clients/:client_id/test-notification',
    {
      // It waits for other services.
      config: { work: 'none' },
      schema: {
        tags,
        summary: 'Send a test message',
        description:
          'Sends it now over each channel of the client and returns each outcome. A channel that was off is on again if the message gets through. 409 when there is no channel, 429 after five in a minute, or 250 e-mails in an hour.',
        params: TestParams,
        response: { 200: Type.Array(TestResult), ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const ctx = contextOf(options, request)
      const results = await sendTestMessages(ctx, notifications, testLimits, request.params.client_id)
      notifications.wake()
      return results
    },
  )
}
