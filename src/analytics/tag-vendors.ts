import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, model, NOT_BLANK, NoContent, Uuid } from '../http/index.ts'
import { AppError, type Clock, invalidRequest, isoTime, notFound } from '../lib/index.ts'
import { type Context, contextOf, type DeletionHooks, lockSite, requireSite, writeAudit } from '../management/index.ts'
import { NAMES_PER_DAY } from '../rollups/index.ts'
import { chunksOf, type Kysely, type Store, type Tables, type TagVendorRow } from '../store/index.ts'
import { VENDORS, vendorIdOf, vendorName } from './vendors.ts'

/** As many as a site may have tags on one day. */
const MOST_TAGS = NAMES_PER_DAY
const NAME_MAX = 60

const VendorName = Type.String({
  ...NOT_BLANK,
  maxLength: NAME_MAX,
  description:
    'The id or name of a known vendor (`GET /api/vendors`), or any other name: tags with the same name have the same vendor',
})

const TagVendorRecord = model('TagVendor', {
  tag_key: Type.String(),
  vendor: Type.String({ description: 'For people: `Meta`' }),
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who did it, as in the audit log' }),
})
export type TagVendorRecord = Static<typeof TagVendorRecord>

const SetTagVendor = Type.Object({ vendor: VendorName }, { additionalProperties: false })
export type SetTagVendor = Static<typeof SetTagVendor>

const VendorRecord = model('Vendor', { id: Type.String(), name: Type.String() })
export type VendorRecord = Static<typeof VendorRecord>

/** Returns the vendor that was set for a tag, or undefined. */
export type VendorLookup = (siteId: string, tagKey: string) => string | undefined

/** The vendors that people set for these sites' tags. */
export async function saidOf(db: Kysely<Tables>, siteIds: readonly string[]): Promise<VendorLookup> {
  const said = new Map<string, Map<string, string>>()
  for (const chunk of chunksOf([...new Set(siteIds)])) {
    const rows = await db.selectFrom('tag_vendors').selectAll().where('site_id', 'in', chunk).execute()
    for (const { site_id, tag_key, vendor } of rows) {
      const ofSite = said.get(site_id) ?? new Map<string, string>()
      said.set(site_id, ofSite.set(tag_key, vendor))
    }
  }
  return (siteId, tagKey) => said.get(siteId)?.get(tagKey)
}

/** The vendors that were set for a site's tags. */
const listTagVendors = ({ read }: Pick<Store, 'read'>, siteId: string): Promise<TagVendorRow[]> =>
  read.selectFrom('tag_vendors').selectAll().where('site_id', '=', siteId).orderBy('tag_key').execute()

/** @throws AppError `not_found`, `invalid_request` for a key that is too long, or `conflict` when the site has too many */
export async function setTagVendor(
  ctx: Context,
  siteId: string,
  tagKey: string,
  input: SetTagVendor,
): Promise<TagVendorRecord> {
  if (tagKey.length > KEY_MAX) throw invalidRequest('/tag_key', `must have at most ${KEY_MAX} characters`)
  const vendor = vendorIdOf(input.vendor) ?? input.vendor.trim()
  const row: TagVendorRow = {
    site_id: siteId,
    tag_key: tagKey,
    vendor,
    created_at: ctx.clock.now(),
    created_by: ctx.actor,
  }
  return ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockSite(trx, siteId)) === undefined) throw notFound('Site')
    const there = await trx.selectFrom('tag_vendors').selectAll().where('site_id', '=', siteId).execute()
    const before = there.find(({ tag_key }) => tag_key === tagKey)
    if (before?.vendor === vendor) return tagVendorRecord(before)
    if (before === undefined && there.length >= MOST_TAGS) {
      throw new AppError('conflict', `The vendors of ${MOST_TAGS} tags are set on this site: remove one`)
    }
    await trx
      .insertInto('tag_vendors')
      .values(row)
      .onConflict((conflict) => conflict.columns(['site_id', 'tag_key']).doUpdateSet(row))
      .execute()
    const was = before === undefined ? null : tagVendorRecord(before)
    await writeAudit(trx, ctx, [
      {
        entity: 'tag_vendor',
        verb: before === undefined ? 'create' : 'update',
        id: siteId,
        before: was,
        after: tagVendorRecord(row),
      },
    ])
    return tagVendorRecord(row)
  })
}

/** Tag names are no longer than this, and 1,000 characters may exceed what a PostgreSQL index accepts. */
const KEY_MAX = 256

/** Removes the vendor, so that the tag's name decides again. @throws AppError `not_found` when none was set */
export async function removeTagVendor(ctx: Context, siteId: string, tagKey: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx
      .deleteFrom('tag_vendors')
      .where('site_id', '=', siteId)
      .where('tag_key', '=', tagKey)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw notFound('Vendor of the tag')
    await writeAudit(trx, ctx, [
      { entity: 'tag_vendor', verb: 'delete', id: siteId, before: tagVendorRecord(row), after: null },
    ])
  })
}

/** Vendors are deleted with their site. */
export const tagVendorHooks: Pick<DeletionHooks, 'removeOfSites'> = {
  removeOfSites: async (trx, sites) => {
    for (const ids of chunksOf(sites.map(({ id }) => id)))
      await trx.deleteFrom('tag_vendors').where('site_id', 'in', ids).execute()
  },
}

const tagVendorRecord = ({ tag_key, vendor, created_at, created_by }: TagVendorRow): TagVendorRecord => ({
  tag_key,
  vendor: vendorName(vendor),
  created_at: isoTime(created_at),
  created_by,
})

const tags = ['Sites']
const TagParams = Type.Object({
  site_id: Uuid,
  tag_key: Type.String({ minLength: 1, description: "The tag's key as in reports, percent-encoded" }),
})
const path = '/api/sites/:site_id/tag-vendors'

/** Adds the routes for vendors of tags. */
export function tagVendorRoutes(app: HttpApp, options: { store: Store; clock: Clock }): void {
  const { store } = options

  app.get(
    '/api/vendors',
    {
      config: { scope: 'anyone' },
      schema: {
        tags,
        summary: 'List vendors',
        description: 'The vendors that Tagwarden recognises by the names of tags.',
        response: { 200: Type.Array(VendorRecord) },
      },
    },
    async () => VENDORS.map(({ id, name }) => ({ id, name })),
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "List the vendors that were set for a site's tags",
        description: 'The vendor of every other tag is derived from its name.',
        params: Type.Object({ site_id: Uuid }),
        response: { 200: Type.Array(TagVendorRecord), ...errorResponses(404) },
      },
    },
    async ({ params: { site_id } }) => {
      await requireSite(store.read, site_id)
      return (await listTagVendors(store, site_id)).map(tagVendorRecord)
    },
  )

  app.post(
    `${path}/:tag_key`,
    {
      schema: {
        tags,
        summary: 'Set the vendor of a tag',
        description:
          'For a tag whose name does not reveal its vendor, or suggests a wrong one. Applies to reports at once, and to alerts and incidents that open from now on. ' +
          `409 when ${MOST_TAGS} are set.`,
        params: TagParams,
        body: SetTagVendor,
        response: { 200: TagVendorRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const { site_id, tag_key } = request.params
      return setTagVendor(contextOf(options, request), site_id, tag_key, request.body)
    },
  )

  app.delete(
    `${path}/:tag_key`,
    {
      schema: {
        tags,
        summary: 'Remove the vendor that was set for a tag',
        description: "The tag's vendor is derived from its name again.",
        params: TagParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { site_id, tag_key } = request.params
      await removeTagVendor(contextOf(options, request), site_id, tag_key)
      return reply.code(204).send(null)
    },
  )
}
