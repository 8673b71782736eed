import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Allowance, errorResponses, type HttpApp, ListQuery, NoContent, sendRecords, Uuid } from '../http/index.ts'
import { AppError } from '../lib/index.ts'
import { contextOf } from '../management/index.ts'
import { inviteUser } from './invite.ts'
import { auditLink, handOut, replaceLinks } from './links.ts'
import type { AccountOptions } from './options.ts'
import { managedClients } from './roles.ts'
import { endSession, SessionRecord, sessionsOf } from './sessions.ts'
import { userIds, usersOf } from './user-list.ts'
import { InvitedUser, InviteUser, PasswordLink, UpdateUser, UserRecord } from './user-schemas.ts'
import {
  deleteUser,
  type FoundUser,
  lockUser,
  mayHandOutLink,
  recordOf,
  requireEnabled,
  requireManaged,
  requireUser,
  updateUser,
} from './users.ts'

const tags = ['People']
const path = '/api/users/:user_id'
/** Callers who manage no client are refused before; the handlers restrict to what the caller manages. */
const config = { needs: 'owner', scope: 'visible' } as const
const Params = Type.Object({ user_id: Uuid })
/** Limit for owners of some clients, for each client: every invitation may be an e-mail to anyone in the name of this service. */
const INVITATIONS_PER_HOUR = 60
const SessionParams = Type.Object({ user_id: Uuid, session_id: Uuid })

/** Adds the routes by which owners manage accounts. */
export function userRoutes(app: HttpApp, options: AccountOptions): void {
  const { store } = options
  const allowance = new Allowance(INVITATIONS_PER_HOUR, 'invitations and links', options.clock, 'an hour')
  const countInvitation = ({ access }: FastifyRequest): void => {
    for (const clientId of managedClients(access) ?? []) allowance.take(clientId)
  }
  const recordFor = ({ access }: FastifyRequest, found: FoundUser) => recordOf(found, managedClients(access))

  app.get(
    '/api/users',
    {
      config,
      schema: {
        tags,
        summary: 'List people',
        description: 'People with a role for a client that the caller owns; everyone for an owner of all clients.',
        querystring: ListQuery,
        response: { 200: Type.Array(UserRecord, { description: 'Oldest first' }) },
      },
    },
    async (request, reply) => {
      const { access, query } = request
      const page = await userIds(store, access, query)
      return sendRecords(request, reply, page, (ids) => usersOf(store, access, ids))
    },
  )

  app.post(
    '/api/users',
    {
      config,
      schema: {
        tags,
        summary: 'Invite someone',
        description:
          'Creates an account and a link to set its password, which works once within 7 days and is sent by e-mail if that is set up. ' +
          'If the address already has an account, the roles are added to it. 409 when someone else invited the address, the account is disabled, or there are too many accounts. 429 after 60 invitations and links an hour by owners of a client.',
        body: InviteUser,
        response: { 201: InvitedUser, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      const { access } = request
      countInvitation(request)
      const { link, ...found } = await inviteUser(contextOf(options, request), access, request.body)
      options.credentials.noteAccount()
      const handed = link === null ? null : await handOut(options, link, access.person?.name ?? null)
      return reply.code(201).send({ ...recordFor(request, found), link: handed })
    },
  )

  app.patch(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'Change an account or its roles',
        description:
          'Changes the given fields. Owners of some clients change roles for these clients only; `name` and `is_active` require an owner of all clients.',
        params: Params,
        body: UpdateUser,
        response: { 200: UserRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const { access, params, body } = request
      return recordFor(
        request,
        await updateUser(contextOf(options, request), access, params.user_id, body, options.issuers),
      )
    },
  )

  app.delete(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'Delete an account',
        description:
          'Deletes it with its roles and sessions; its entries in the audit log remain. For owners of all clients.',
        params: Params,
        response: { 204: NoContent, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) => {
      await deleteUser(contextOf(options, request), request.access, request.params.user_id, options.issuers)
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/link`,
    {
      config,
      schema: {
        tags,
        summary: 'Make a new link that sets the password',
        description:
          'It replaces earlier links. For an invitation, the caller must manage all roles of the account; if the account has a password, the caller must own all clients.',
        params: Params,
        response: { 201: PasswordLink, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { access, params } = request
      const link = await store.write.transaction().execute(async (trx) => {
        await lockUser(trx, 'id', params.user_id)
        const found = await requireUser(trx, access, params.user_id)
        if (!mayHandOutLink(access, found)) {
          throw new AppError('forbidden', 'Only an owner of all clients can make a link for this account')
        }
        requireEnabled(found.row)
        countInvitation(request)
        await auditLink(trx, contextOf(options, request), params.user_id)
        return replaceLinks(trx, found.row, options.clock.now())
      })
      return reply.code(201).send(await handOut(options, link, access.person?.name ?? null))
    },
  )

  app.get(
    `${path}/sessions`,
    {
      config,
      schema: {
        tags,
        summary: "List a user's sessions",
        description: 'Browsers that are signed in with the account. For owners of all clients.',
        params: Params,
        response: {
          200: Type.Array(SessionRecord, { description: 'Most recently seen first' }),
          ...errorResponses(404),
        },
      },
    },
    async ({ access, params }) => {
      await requireManaged(store.read, access, params.user_id)
      return sessionsOf(options, params.user_id, access.session)
    },
  )

  app.delete(
    `${path}/sessions/:session_id`,
    {
      config,
      schema: {
        tags,
        summary: "End a user's session",
        params: SessionParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { user_id, session_id } = request.params
      await requireManaged(store.read, request.access, user_id)
      await endSession(contextOf(options, request), user_id, session_id)
      return reply.code(204).send(null)
    },
  )
}
