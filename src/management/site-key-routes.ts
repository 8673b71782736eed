import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { errorResponses, type HttpApp, seesSecrets } from '../http/index.ts'
import { notFound } from '../lib/index.ts'
import type { SiteKeyRow } from '../store/index.ts'
import { contextOf, type ManagementOptions } from './context.ts'
import { AddKey, ChangeKey, RotateKey, SiteKeyParams, SiteKeyRecord, siteKeyRecord } from './site-key-schemas.ts'
import { addKey, changeKey, listKeys, MOST_VALID_KEYS, revokeOneKey, rotateKey } from './site-keys.ts'
import { SiteParams } from './site-schemas.ts'
import { requireSite } from './sites.ts'

const tags = ['Sites']
const path = '/api/sites/:site_id/keys'

/** Adds the routes for a site's ingest keys. */
export function siteKeyRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store, clock, untilAllKnowIt } = options

  async function keysFor(request: FastifyRequest, siteId: string): Promise<SiteKeyRecord[]> {
    const keys = await listKeys(store.read, await requireSite(store.read, siteId))
    return keys.map((key) => siteKeyRecord(key, clock.now(), seesSecrets(request.access)))
  }

  async function keyFor(request: FastifyRequest, siteId: string, keyId: string): Promise<SiteKeyRecord> {
    const key = (await keysFor(request, siteId)).find(({ id }) => id === keyId)
    if (key === undefined) throw notFound('Key')
    return key
  }

  /** A new key's answer needs no read: one that failed would hide that the key exists, and a repeated request makes another. */
  async function sendNew(request: FastifyRequest, reply: FastifyReply, key: SiteKeyRow): Promise<FastifyReply> {
    await untilAllKnowIt()
    const used = { key, lastUsedAt: null }
    return reply.code(201).send(siteKeyRecord(used, clock.now(), seesSecrets(request.access)))
  }

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "List a site's ingest keys",
        description:
          'Newest first, including recently ended ones. Viewers do not see the keys themselves. ' +
          'Check `last_used_at` before you revoke a key: one that is still in use should not be revoked.',
        params: SiteParams,
        response: { 200: Type.Array(SiteKeyRecord, { description: 'Newest first' }), ...errorResponses(404) },
      },
    },
    async (request) => keysFor(request, request.params.site_id),
  )

  app.post(
    path,
    {
      schema: {
        tags,
        summary: 'Add an ingest key to a site',
        description: `In addition to its other keys. 409 when ${MOST_VALID_KEYS} keys are valid.`,
        params: SiteParams,
        body: AddKey,
        response: { 201: SiteKeyRecord, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const key = await addKey(contextOf(options, request), request.params.site_id, request.body.name)
      return sendNew(request, reply, key)
    },
  )

  app.post(
    `${path}/:key_id/rotate`,
    {
      schema: {
        tags,
        summary: 'Replace an ingest key',
        description:
          'Creates and returns a new key; the old one is accepted until `old_until`. ' +
          `409 when the key has ended, is already being replaced, or ${MOST_VALID_KEYS} keys are valid.`,
        params: SiteKeyParams,
        body: RotateKey,
        response: { 201: SiteKeyRecord, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { site_id, key_id } = request.params
      return sendNew(request, reply, await rotateKey(contextOf(options, request), site_id, key_id, request.body))
    },
  )

  app.post(
    `${path}/:key_id/revoke`,
    {
      schema: {
        tags,
        summary: 'Revoke an ingest key',
        description: 'From now on, ingest permanently refuses it. A key that has ended is not changed.',
        params: SiteKeyParams,
        response: { 200: SiteKeyRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { site_id, key_id } = request.params
      await revokeOneKey(contextOf(options, request), site_id, key_id)
      return keyFor(request, site_id, key_id)
    },
  )

  app.patch(
    `${path}/:key_id`,
    {
      schema: {
        tags,
        summary: 'Change an ingest key',
        description: 'Renames it, or changes when a key that is being replaced ends. A key that has ended stays ended.',
        params: SiteKeyParams,
        body: ChangeKey,
        response: { 200: SiteKeyRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const { site_id, key_id } = request.params
      await changeKey(contextOf(options, request), site_id, key_id, request.body)
      return keyFor(request, site_id, key_id)
    },
  )
}
