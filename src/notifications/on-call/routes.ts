import { Type } from 'typebox'
import { errorResponses, type HttpApp, NoContent, seesSecrets, Uuid } from '../../http/index.ts'
import { type Clock, notFound } from '../../lib/index.ts'
import { contextOf } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { addOverride, deleteOverride, removeOnCall, setOnCall } from './on-call.ts'
import { onCallPlans } from './plans.ts'
import { AddOverride, OnCallRecord, OverrideRecord, onCallRecord, SetOnCall } from './schemas.ts'

const tags = ['Notifications']
const path = '/api/clients/:client_id/on-call'
const params = Type.Object({ client_id: Uuid })

/** Adds the routes of clients' on-call rotations. */
export function onCallRoutes(app: HttpApp, options: { store: Store; clock: Clock }): void {
  const { store, clock } = options

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "Read a client's on-call rotation",
        description: 'Who is on call, until when, and who is next. Viewers do not see e-mail addresses.',
        params,
        response: { 200: OnCallRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { client_id } = request.params
      const client = await store.read.selectFrom('clients').select('id').where('id', '=', client_id).executeTakeFirst()
      if (client === undefined) throw notFound('Client')
      const plan = (await onCallPlans(store.read, [client_id])).get(client_id)
      return onCallRecord(plan, clock.now(), seesSecrets(request.access))
    },
  )

  app.post(
    path,
    {
      schema: {
        tags,
        summary: "Set a client's on-call rotation",
        description:
          'Replaces the existing rotation. Give the `id` of people who stay, so that their overrides are kept; overrides of people who leave are deleted.',
        params,
        body: SetOnCall,
        response: { 200: OnCallRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const plan = await setOnCall(contextOf(options, request), request.params.client_id, request.body)
      return onCallRecord(plan, clock.now(), true)
    },
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: "Delete a client's on-call rotation",
        description: 'Deletes it with its overrides. From then on, messages name no one.',
        params,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await removeOnCall(contextOf(options, request), request.params.client_id)
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/overrides`,
    {
      schema: {
        tags,
        summary: 'Add an override',
        description:
          'Someone stands in from `starts_at` until `ends_at`. If several overrides overlap, the latest one applies.',
        params,
        body: AddOverride,
        response: { 201: OverrideRecord, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addOverride(contextOf(options, request), request.params.client_id, request.body)),
  )

  app.delete(
    `${path}/overrides/:override_id`,
    {
      schema: {
        tags,
        summary: 'Delete an override',
        description: 'The rotation applies again.',
        params: Type.Object({ client_id: Uuid, override_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { client_id, override_id } = request.params
      await deleteOverride(contextOf(options, request), client_id, override_id)
      return reply.code(204).send(null)
    },
  )
}
