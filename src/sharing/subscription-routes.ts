import { type Static, Type } from 'typebox'
import {
  addOneClick,
  errorResponses,
  type HttpApp,
  IsoTime,
  model,
  mustWait,
  NoContent,
  networkOf,
  nullable,
  seesSecrets,
  Uuid,
} from '../http/index.ts'
import { AppError, type Clock, DAY, HOUR, isoTime, isoTimeOrNull } from '../lib/index.ts'
import { clientOfStatusLink, contextOf, getClient } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { StatusToken } from './status-page.ts'
import { confirm, readSubscription, removeSubscriber, subscribe, subscribersOf, unsubscribe } from './subscribers.ts'

interface Options {
  store: Store
  clock: Clock
  isEmailOn: boolean
}

export const Subscription = model('Subscription', {
  name: Type.String({ description: "The client's" }),
  email: Type.String(),
  is_confirmed: Type.Boolean({ description: 'Nothing is sent until the address is confirmed' }),
})
export type Subscription = Static<typeof Subscription>

export const SubscriberRecord = model('Subscriber', {
  id: Uuid,
  email: nullable(Type.String({ description: 'Null for viewers' })),
  created_at: IsoTime,
  confirmed_at: nullable(IsoTime),
  is_failing: Type.Boolean({ description: 'Whether the mail server refused the last e-mail; it is retried' }),
})
export type SubscriberRecord = Static<typeof SubscriberRecord>

const Secret = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The last part of the link in the e-mail' })

/** Subscriptions that a caller may request in an hour, on each node; an office shares one address. */
const PER_HOUR = 10
/**
 * In a day for the network that the caller is in: someone who has one has all its addresses, and each request may write to a stranger.
 */
const PER_DAY_OF_NETWORK = 120
/** Callers remembered; beyond this the one that asked longest ago is dropped. */
const MOST_CALLERS = 10_000

/**
 * Adds the routes of subscriptions to status pages. Those for one's own subscription are public: the page's token and the secret in
 * the e-mails are the key. Listing and removing subscribers takes access to the client.
 */
export function subscriptionRoutes(app: HttpApp, { store, clock, isEmailOn }: Options): void {
  const asked = new Map<string, { since: number; count: number }>()
  const countOrRefuse = (caller: string, most: number, span: number): void => {
    const now = clock.now()
    const known = asked.get(caller)
    const record = known === undefined || Math.abs(now - known.since) >= span ? { since: now, count: 0 } : known
    if (record.count >= most) {
      throw mustWait('Too many subscriptions from this address', record.since + span - now)
    }
    record.count++
    asked.delete(caller)
    asked.set(caller, record)
    const [oldest] = asked.keys()
    if (asked.size > MOST_CALLERS && oldest !== undefined) asked.delete(oldest)
  }

  const shared = { tags: ['Sharing'], security: [] }
  const path = '/api/status/:token/subscribers'
  app.post(
    path,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Subscribe to a status page by e-mail',
        description:
          'Sends an e-mail with a link to confirm; until then nothing else is sent. The answer does not reveal whether the address was known. ' +
          `409 if e-mail is not set up, or too many people have subscribed; 429 after ${PER_HOUR} an hour, or ${PER_DAY_OF_NETWORK} a day of a network (/24, /48).`,
        params: Type.Object({ token: StatusToken }),
        body: Type.Object({ email: Type.String({ format: 'email', maxLength: 254 }) }, { additionalProperties: false }),
        response: {
          202: Type.Object({ email: Type.String() }, { description: 'An e-mail to this address is on its way' }),
          ...errorResponses(404, 409, 429),
        },
      },
    },
    async (request, reply) => {
      const { token } = request.params
      const { id } = await clientOfStatusLink(store.read, token)
      if (!isEmailOn) throw new AppError('conflict', 'E-mail is not set up here')
      countOrRefuse(request.caller, PER_HOUR, HOUR)
      countOrRefuse(networkOf(request.caller), PER_DAY_OF_NETWORK, DAY)
      const { email } = request.body
      await subscribe(store, { id, token }, email, clock.now())
      return reply.code(202).send({ email })
    },
  )

  const params = Type.Object({ token: StatusToken, secret: Secret })
  app.get(
    `${path}/:secret`,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Read a subscription',
        params,
        response: { 200: Subscription, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { token, secret } = request.params
      const { name, email, confirmed_at } = await readSubscription(store.read, token, secret)
      return { name, email, is_confirmed: confirmed_at !== null }
    },
  )

  app.post(
    `${path}/:secret/confirm`,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Confirm a subscription',
        description: 'A separate step, because mail servers open the links in e-mails to check them.',
        params,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { token, secret } = request.params
      await clientOfStatusLink(store.read, token)
      await confirm(store, token, secret, clock.now())
      return reply.code(204).send(null)
    },
  )

  app.delete(
    `${path}/:secret`,
    {
      config: { access: 'public' },
      schema: {
        ...shared,
        summary: 'Unsubscribe',
        description: 'Deletes the address.',
        params,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { token, secret } = request.params
      await unsubscribe(store, token, secret)
      return reply.code(204).send(null)
    },
  )

  addOneClick(app, {
    path: '/status/:token/subscription/:secret',
    params,
    summary: 'Unsubscribe with one click',
    effect: 'Deletes the address, if it is still there.',
    unsubscribe: ({ token, secret }) => unsubscribe(store, token, secret),
  })

  const ofClient = '/api/clients/:client_id/subscribers'
  app.get(
    ofClient,
    {
      schema: {
        tags: ['Clients'],
        summary: "List the subscribers of a client's status page",
        description: 'The subscribers of the current link. Viewers do not see their addresses.',
        params: Type.Object({ client_id: Uuid }),
        response: { 200: Type.Array(SubscriberRecord, { description: 'Oldest first' }), ...errorResponses(404) },
      },
    },
    async (request) => {
      const { client_id } = request.params
      await getClient(store, client_id)
      const rows = await subscribersOf(store, client_id)
      const showsEmail = seesSecrets(request.access)
      return rows.map(({ id, email, created_at, confirmed_at, failures }) => ({
        id,
        email: showsEmail ? email : null,
        created_at: isoTime(created_at),
        confirmed_at: isoTimeOrNull(confirmed_at),
        is_failing: failures > 0,
      }))
    },
  )

  app.delete(
    `${ofClient}/:subscriber_id`,
    {
      schema: {
        tags: ['Clients'],
        summary: "Remove a subscriber of a client's status page",
        params: Type.Object({ client_id: Uuid, subscriber_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { client_id, subscriber_id } = request.params
      await removeSubscriber(contextOf({ store, clock }, request), client_id, subscriber_id)
      return reply.code(204).send(null)
    },
  )
}
