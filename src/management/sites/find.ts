import { notFound } from '../../lib/index.ts'
import type { Kysely, SiteRow, Tables } from '../../store/index.ts'

/** The site of this id, or undefined. */
export async function findSite(db: Kysely<Tables>, siteId: string): Promise<SiteRow | undefined> {
  return db.selectFrom('sites').selectAll().where('id', '=', siteId).executeTakeFirst()
}

/** @throws AppError `not_found`. */
export async function requireSite(db: Kysely<Tables>, siteId: string): Promise<SiteRow> {
  const site = await findSite(db, siteId)
  if (site === undefined) throw notFound('Site')
  return site
}
