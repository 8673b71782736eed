import type { Store } from '../../store/index.ts'
import { requireSite } from './find.ts'
import { lastEventAt } from './last-event.ts'
import { siteRecord } from './record.ts'
import type { SiteRecord } from './schemas.ts'

/** @throws AppError `not_found`. */
export async function getSite({ read }: Pick<Store, 'read'>, id: string): Promise<SiteRecord> {
  const row = await requireSite(read, id)
  return siteRecord(row, await lastEventAt(read, row.site_no))
}
