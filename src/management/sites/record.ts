import { isoTime, isoTimeOrNull, maskedQuery } from '../../lib/index.ts'
import type { SiteRow } from '../../store/index.ts'
import type { SiteRecord } from './schemas.ts'

/** A site as the interface shows it; `lastEventAt` is epoch ms. */
export function siteRecord(row: SiteRow, lastEventAt: number | null): SiteRecord {
  const { site_no: _internal, is_active, key_revoked_at, created_at, ...shown } = row
  return {
    ...shown,
    is_active: is_active === 1,
    key_revoked_at: isoTimeOrNull(key_revoked_at),
    last_event_at: isoTimeOrNull(lastEventAt),
    created_at: isoTime(created_at),
  }
}

/** As viewers see it: queries of addresses may hold keys. */
export const withoutSecrets = (record: SiteRecord): SiteRecord => ({
  ...record,
  ingest_key: null,
  url: maskedQuery(record.url),
  tag_server_url: record.tag_server_url === null ? null : maskedQuery(record.tag_server_url),
})
