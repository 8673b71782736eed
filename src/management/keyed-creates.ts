import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import { errorResponses, type HttpApp } from '../http/index.ts'
import { AppError, hashOf, SECOND, Seal } from '../lib/index.ts'
import type { ManagementOptions } from './context.ts'
import { type CreatedBefore, findKey, type KeyedCreate, keepAnswer } from './create-keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    keyedCreate?: KeyedCreate
  }
}

const Headers = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      maxLength: 128,
      description:
        'Preferably a random UUID for each thing to create. The same request with the same key within 24 hours creates nothing: it gets the first answer again, with `Idempotent-Replayed: true`. ' +
        '409 when that answer was lost, 422 when the key was used with a different request. Empty counts as absent.',
    }),
  ),
})

/** Longest wait for the answer to the first of two requests: an invitation is e-mailed before it is answered. */
const WAIT_MS = 10 * SECOND
const LOOK_EVERY_MS = 200

/** Makes every route added later that answers 201 create only once for each `Idempotency-Key` of a caller. */
export function createOncePerKey(app: HttpApp, { store, clock }: Pick<ManagementOptions, 'store' | 'clock'>): void {
  app.decorateRequest('keyedCreate')

  /** Null when nothing was created with the key. Waits for an answer that may be under way. @throws AppError when there is none to give */
  async function earlierAnswer(create: KeyedCreate, seal: Seal): Promise<unknown> {
    for (let waited = 0; ; waited += LOOK_EVERY_MS) {
      const row = await findKey(store, create.id)
      if (row === undefined) return null
      if (row.fingerprint !== create.fingerprint) throw reused()
      const answer = row.answer && seal.open(row.answer, 'answer to a create')
      if (answer !== null) return JSON.parse(answer)
      if (row.answer !== null || waited >= WAIT_MS || clock.now() - row.created_at >= WAIT_MS) throw lostAnswer(row)
      await delay(LOOK_EVERY_MS)
    }
  }

  app.addHook('onRoute', (route) => {
    if (!isCreate(route)) return
    const { handler, schema = {} } = route
    schema.headers = Headers
    schema.response = { ...errorResponses(409, 422), ...Object(schema.response) }
    route.handler = async (request, reply) => {
      const key = request.headers['idempotency-key']
      if (typeof key !== 'string' || key === '') return handler.call(app, request, reply)
      const create = keyedCreateOf(request, key)
      const seal = sealOf(request, key)
      const before = await earlierAnswer(create, seal)
      if (before !== null) return answerAgain(reply, before)
      request.keyedCreate = create
      try {
        return await handler.call(app, request, reply)
      } catch (thrown) {
        // Another request with the key may have created it meanwhile and caused this error, whatever its code.
        const meanwhile = create.isClaimed ? null : await earlierAnswer(create, seal)
        if (meanwhile === null) throw thrown
        return answerAgain(reply, meanwhile)
      }
    }
    route.preSerialization = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
      const { keyedCreate } = request
      if (keyedCreate?.isClaimed !== true || reply.statusCode !== 201) return payload
      const sealed = sealOf(request, String(request.headers['idempotency-key'])).close(
        JSON.stringify(payload),
        'answer to a create',
      )
      // Kept before it is sent, so that a caller who loses it can get it again.
      await keepAnswer(store, keyedCreate.id, sealed).catch((err: unknown) =>
        request.log.warn({ err }, 'the answer to a create is not kept for repeated requests'),
      )
      return payload
    }
  })
}

/** Excludes one's own account: a second step's secret is shown after a password was proven, and the request contains that password. */
const isCreate = ({ method, url, schema, config }: RouteOptions): boolean =>
  method === 'POST' &&
  Object(schema?.response)[201] !== undefined &&
  config?.access !== 'public' &&
  !url.startsWith('/api/account/')

/** The caller's current grants are part of the request, so that no one is shown what they may no longer see. */
function keyedCreateOf(
  { access, method, routeOptions, params, query, body }: FastifyRequest,
  key: string,
): KeyedCreate {
  const { all, clients } = access.grants
  const request = JSON.stringify([key, method, routeOptions.url, params, query, body, all, [...clients].sort()])
  return {
    id: hashOf(JSON.stringify([access.holder ?? access.role, key])),
    fingerprint: hashOf(request),
    isClaimed: false,
  }
}

/**
 * Opens only for a caller who sends the key again with the same credential: others can guess a key, but not the credential.
 * Someone whom a proxy signs in has none that lasts, and the key's id already names them.
 */
const sealOf = ({ headers, access }: FastifyRequest, key: string): Seal =>
  new Seal(`${key}\n${headers.authorization ?? access.session ?? access.holder ?? ''}`)

const answerAgain = (reply: FastifyReply, answer: unknown): FastifyReply =>
  reply.code(201).header('idempotent-replayed', 'true').send(answer)

const reused = (): AppError =>
  new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was already used with a different request: send a new one',
  )

// Read by people at the dashboard as well.
const lostAnswer = ({ action, entity_id }: CreatedBefore): AppError =>
  new AppError(
    'conflict',
    `This was already done (${action} ${entity_id}), but the answer was lost or is still on its way: look at what was created`,
  )
