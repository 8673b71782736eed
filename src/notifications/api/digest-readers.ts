import { type Static, Type } from 'typebox'
import {
  addOneClick,
  errorResponses,
  type HttpApp,
  IsoTime,
  model,
  NoContent,
  nullable,
  seesSecrets,
  Uuid,
} from '../../http/index.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../lib/index.ts'
import { contextOf, getClient } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { optOutsOf, readReader, resumeByLink, resumeDigests, stopDigests } from '../digest-readers.ts'

export const DigestSubscription = model('DigestSubscription', {
  name: Type.String({ description: "The client's" }),
  email: Type.String(),
  opted_out_at: nullable(IsoTime),
})
export type DigestSubscription = Static<typeof DigestSubscription>

export const DigestOptOut = model('DigestOptOut', {
  id: Uuid,
  email: nullable(Type.String({ description: 'Null for viewers' })),
  opted_out_at: IsoTime,
})
export type DigestOptOut = Static<typeof DigestOptOut>

const Secret = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The last part of the link in the digest' })
const params = Type.Object({ secret: Secret })
const shared = { tags: ['Sharing'], security: [] }
const path = '/api/digests/:secret'
const ofClient = '/api/clients/:client_id/digest-opt-outs'

interface Options {
  store: Store
  clock: Clock
}

/**
 * Adds the routes by which readers unsubscribe from digests. The secret in the e-mail is their key, as they may have no account.
 * Nothing that only reads unsubscribes: mail servers open the links in e-mails to check them.
 */
export function digestReaderRoutes(app: HttpApp, { store, clock }: Options): void {
  app.get(
    path,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Read whether an address gets digests',
        params,
        response: { 200: DigestSubscription, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { name, email, opted_out_at } = await readReader(store.read, request.params.secret)
      return { name, email, opted_out_at: isoTimeOrNull(opted_out_at) }
    },
  )

  app.post(
    `${path}/stop`,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Unsubscribe from digests',
        description: "Stops one client's digests to this address. Alerts still go there.",
        params,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await stopDigests({ store, clock }, request.params.secret)
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/resume`,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Resume digests',
        params,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await resumeByLink({ store, clock }, request.params.secret)
      return reply.code(204).send(null)
    },
  )

  addOneClick(app, {
    path: '/status/digests/:secret',
    params,
    summary: 'Unsubscribe from digests with one click',
    unsubscribe: ({ secret }) => stopDigests({ store, clock }, secret),
  })

  app.get(
    ofClient,
    {
      schema: {
        tags: ['Clients'],
        summary: 'List the addresses that unsubscribed from digests',
        description: 'Viewers do not see them.',
        params: Type.Object({ client_id: Uuid }),
        response: { 200: Type.Array(DigestOptOut, { description: 'Oldest first' }), ...errorResponses(404) },
      },
    },
    async (request) => {
      const { client_id } = request.params
      await getClient(store, client_id)
      const showsEmail = seesSecrets(request.access)
      const rows = await optOutsOf(store, client_id)
      return rows.flatMap(({ id, email, opted_out_at }) =>
        opted_out_at === null ? [] : [{ id, email: showsEmail ? email : null, opted_out_at: isoTime(opted_out_at) }],
      )
    },
  )

  app.delete(
    `${ofClient}/:digest_opt_out_id`,
    {
      schema: {
        tags: ['Clients'],
        summary: 'Resume digests to an address',
        params: Type.Object({ client_id: Uuid, digest_opt_out_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { client_id, digest_opt_out_id } = request.params
      await resumeDigests(contextOf({ store, clock }, request), client_id, digest_opt_out_id)
      return reply.code(204).send(null)
    },
  )
}
