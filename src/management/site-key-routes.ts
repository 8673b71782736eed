import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { errorResponses, type HttpApp, seesSecrets } from '../http/index.ts'
import { contextOf, type ManagementOptions } from './context.ts'
import {
  AddKey,
  ChangeKey,
  RotateKey,
  SiteKeyParams,
  SiteKeyRecord,
  siteKeyRecord,
  type UsedKey,
} from './site-key-schemas.ts'
import { addKey, changeKey, listKeys, MOST_VALID_KEYS, revokeOneKey, rotateKey } from './site-keys.ts'
import { SiteParams } from './site-schemas.ts'
import { requireSite } from './sites.ts'

const tags = ['Sites']
const path = '/api/sites/:site_id/keys'

/** Adds the routes for a site's ingest keys. */
export function siteKeyRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store, clock, untilAllKnowIt } = options

  const recordFor = ({ access }: FastifyRequest, key: UsedKey): SiteKeyRecord =>
    siteKeyRecord(key, clock.now(), seesSecrets(access))

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
    async (request) => {
      const keys = await listKeys(store.read, await requireSite(store.read, request.params.site_id))
      return keys.map((key) => recordFor(request, key))
    },
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
      await untilAllKnowIt(request)
      return reply.code(201).send(recordFor(request, key))
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
      const key = await rotateKey(contextOf(options, request), site_id, key_id, request.body)
      await untilAllKnowIt(request)
      return reply.code(201).send(recordFor(request, key))
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
      return recordFor(request, await revokeOneKey(contextOf(options, request), site_id, key_id))
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
      return recordFor(request, await changeKey(contextOf(options, request), site_id, key_id, request.body))
    },
  )
}
