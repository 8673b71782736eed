import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  editsAll,
  errorResponses,
  type HttpApp,
  NoContent,
  seesSecrets,
  sendRecords,
  visibleTo,
} from '../http/index.ts'
import type { ClientRow } from '../store/index.ts'
import {
  ClientParams,
  ClientQuery,
  ClientRecord,
  CreateClient,
  clientRecord,
  UpdateClient,
  withoutSecrets,
} from './client-schemas.ts'
import { clientIds, clientsOf, createClient, getClient, removeClient, updateClient } from './clients.ts'
import { CreateQuery, contextOf, type ManagementOptions } from './context.ts'
import { getUsage, UsageRecord } from './plans.ts'

const tags = ['Clients']
const path = '/api/clients/:client_id'

function recordFor(request: FastifyRequest, row: ClientRow): ClientRecord {
  const record = clientRecord(row)
  return seesSecrets(request.access, row.id) ? record : withoutSecrets(record)
}

export function clientRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store, clock, defaultPlan, untilAllKnowIt } = options

  app.get(
    '/api/clients',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List clients',
        description: 'All clients, oldest first.',
        querystring: ClientQuery,
        response: { 200: Type.Array(ClientRecord, { description: 'Oldest first' }) },
      },
    },
    async (request, reply) => {
      const page = await clientIds(store, visibleTo(request.access), request.query)
      return sendRecords(request, reply, page, async (ids) =>
        (await clientsOf(store, ids)).map((row) => recordFor(request, row)),
      )
    },
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read a client',
        description: 'Viewers see neither its e-mail addresses nor its webhook.',
        params: ClientParams,
        response: { 200: ClientRecord, ...errorResponses(404) },
      },
    },
    async (request) => recordFor(request, await getClient(store, request.params.client_id)),
  )

  app.post(
    '/api/clients',
    {
      config: { scope: 'service' },
      schema: {
        tags,
        summary: 'Create a client',
        description: 'A company or project whose sites are watched. Without `plan` it gets DEFAULT_PLAN.',
        querystring: CreateQuery,
        body: CreateClient,
        response: { 201: ClientRecord, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      const row = await createClient(contextOf(options, request), defaultPlan, request.body)
      return reply.code(201).send(recordFor(request, row))
    },
  )

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: 'Change a client',
        description:
          'Changes the given fields; null clears an optional one. Leaving plan enterprise clears the limits set for it. Changing `is_active`, the plan or its limits takes a role for all clients.',
        params: ClientParams,
        body: UpdateClient,
        response: { 200: ClientRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { access, params, body } = request
      const ctx = contextOf(options, request)
      const { row, isResumed } = await updateClient(ctx, params.client_id, body, editsAll(access))
      if (isResumed) await untilAllKnowIt(request)
      return recordFor(request, row)
    },
  )

  app.delete(
    path,
    {
      config: { needs: 'owner' },
      schema: {
        tags,
        summary: 'Delete a client',
        description: 'Deletes the client with its sites and all their data.',
        params: ClientParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await removeClient(contextOf(options, request), options.deletionHooks, request.params.client_id)
      return reply.code(204).send(null)
    },
  )

  app.get(
    `${path}/usage`,
    {
      schema: {
        tags,
        summary: "Read a client's usage",
        description: 'Events and requests of this month with the limits, and those of the last 12 months.',
        params: ClientParams,
        response: { 200: UsageRecord, ...errorResponses(404) },
      },
    },
    async (request) => getUsage(store, clock, await getClient(store, request.params.client_id)),
  )
}
