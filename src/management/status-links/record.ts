import { isoTimeOrNull } from '../../lib/index.ts'
import type { StatusLinkRow } from '../../store/index.ts'
import type { StatusLinkRecord } from './schemas.ts'

/**
 * A client's link as the interface shows it.
 *
 * @param row undefined: the client has none
 * @param publicUrl without a slash at its end
 */
export function statusLinkRecord(
  clientId: string,
  row: StatusLinkRow | undefined,
  publicUrl: string | null,
): StatusLinkRecord {
  return {
    client_id: clientId,
    is_active: row !== undefined,
    token: row?.token ?? null,
    url: row === undefined || publicUrl === null ? null : `${publicUrl}/status/${row.token}`,
    created_at: isoTimeOrNull(row?.created_at ?? null),
    created_by: row?.created_by ?? null,
  }
}

export const withoutSecrets = (record: StatusLinkRecord): StatusLinkRecord => ({ ...record, token: null, url: null })

/** What the audit log says of a link; it masks the token. */
export const auditedLink = ({ token, created_by }: StatusLinkRow) => ({ token, created_by })
