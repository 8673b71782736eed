import { Type } from 'typebox'
import { errorResponses, type HttpApp, NoContent, seesSecrets } from '../../http/index.ts'
import { type Clock, notFound } from '../../lib/index.ts'
import { CreateQuery, contextOf } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import type { Notifications } from '../notifications.ts'
import { sendTestMessages, type TestLimits } from './channels.ts'
import { deleteFieldChannel, fieldOf, keyOfChannel, updateFieldChannel } from './field-channels.ts'
import {
  CreateOwnChannel,
  OwnChannelParams,
  OwnChannelRecord,
  ownChannelRecord,
  UpdateOwnChannel,
} from './own-channel-schemas.ts'
import { createOwnChannel, deleteOwnChannel, listOwnChannels, updateOwnChannel } from './own-channels.ts'
import { TestParams, TestResult } from './schemas.ts'

export interface NotificationRouteOptions {
  store: Store
  clock: Clock
  notifications: Notifications
}

const tags = ['Notifications']
const path = '/api/clients/:client_id/channels'

/** Adds the routes of a client's channels: its chat webhook, its e-mail and its own channels. */
export function ownChannelRoutes(app: HttpApp, options: NotificationRouteOptions, testLimits: TestLimits): void {
  const { store, notifications } = options

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "List a client's channels",
        description: 'Its `chat_webhook` and `email` first, then the others, oldest first.',
        params: TestParams,
        response: {
          200: Type.Array(OwnChannelRecord, { description: 'The fields of the client first' }),
          ...errorResponses(404),
        },
      },
    },
    async (request) => listOwnChannels(store, request.params.client_id, seesSecrets(request.access)),
  )

  app.post(
    path,
    {
      schema: {
        tags,
        summary: 'Add a channel to a client',
        description:
          "From now on, messages about the client's incidents are also sent over this channel. 409 when the client has 20.",
        params: TestParams,
        querystring: CreateQuery,
        body: CreateOwnChannel,
        response: { 201: OwnChannelRecord, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const row = await createOwnChannel(contextOf(options, request), request.params.client_id, request.body)
      return reply.code(201).send(ownChannelRecord(row, true))
    },
  )

  app.patch(
    `${path}/:channel_id`,
    {
      schema: {
        tags,
        summary: 'Change a channel of a client',
        description: 'Its kind cannot change. Editing the address turns it on again after a failure.',
        params: OwnChannelParams,
        body: UpdateOwnChannel,
        response: { 200: OwnChannelRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { client_id, channel_id } = request.params
      const [ctx, field] = [contextOf(options, request), fieldOf(channel_id)]
      const record =
        field === undefined
          ? ownChannelRecord(await updateOwnChannel(ctx, client_id, channel_id, request.body), true)
          : await updateFieldChannel(ctx, client_id, field, request.body)
      notifications.wake()
      return record
    },
  )

  app.delete(
    `${path}/:channel_id`,
    {
      schema: {
        tags,
        summary: 'Delete a channel of a client',
        description: 'Messages that wait on it are cancelled.',
        params: OwnChannelParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { client_id, channel_id } = request.params
      const [ctx, field] = [contextOf(options, request), fieldOf(channel_id)]
      if (field === undefined) await deleteOwnChannel(ctx, client_id, channel_id)
      else await deleteFieldChannel(ctx, client_id, field)
      notifications.wake()
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/:channel_id/test`,
    {
      // It waits for other services.
      config: { work: 'none' },
      schema: {
        tags,
        summary: 'Send a test message over one channel',
        description:
          'Sends it now. 409 when the channel is switched off, another one has its address, or e-mail is off on this server.',
        params: OwnChannelParams,
        response: { 200: Type.Array(TestResult), ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const { client_id, channel_id } = request.params
      const listed = await listOwnChannels(store, client_id, false)
      if (!listed.some(({ id }) => id === channel_id)) throw notFound('Channel')
      const key = keyOfChannel(client_id, channel_id)
      const results = await sendTestMessages(contextOf(options, request), notifications, testLimits, client_id, key)
      notifications.wake()
      return results
    },
  )
}
