import { Type } from 'typebox'
import { errorResponses, type HttpApp, ListQuery, NoContent, sendRecords, Uuid } from '../http/index.ts'
import { contextOf } from '../management/index.ts'
import type { AccountOptions } from './options.ts'
import { ApiTokenRecord, CreateApiToken, createToken, NewApiToken, revokeToken, tokenIds, tokensOf } from './tokens.ts'

const tags = ['API tokens']
/** Callers who own no client are refused before; the handlers restrict to what the caller owns. */
const config = { needs: 'owner', scope: 'visible' } as const

/** Adds the routes for API tokens. */
export function tokenRoutes(app: HttpApp, options: AccountOptions): void {
  const { store } = options

  app.get(
    '/api/tokens',
    {
      config,
      schema: {
        tags,
        summary: 'List API tokens',
        description: 'Tokens for clients that the caller owns; all tokens for an owner of all clients.',
        querystring: ListQuery,
        response: { 200: Type.Array(ApiTokenRecord, { description: 'Oldest first' }) },
      },
    },
    async (request, reply) => {
      const page = await tokenIds(store, request.access, request.query)
      return sendRecords(request, reply, page, (ids) => tokensOf(store, ids))
    },
  )

  app.post(
    '/api/tokens',
    {
      config,
      schema: {
        tags,
        summary: 'Create an API token',
        description: 'The token is only in this answer. Send it as `Authorization: Bearer twk_…`.',
        body: CreateApiToken,
        response: { 201: NewApiToken, ...errorResponses(409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createToken(contextOf(options, request), request.access, request.body)),
  )

  app.delete(
    '/api/tokens/:token_id',
    {
      config,
      schema: {
        tags,
        summary: 'Revoke an API token',
        description: 'It stops working at once.',
        params: Type.Object({ token_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await revokeToken(contextOf(options, request), request.access, request.params.token_id)
      return reply.code(204).send(null)
    },
  )
}
