import type { SiteRow } from '../../store/index.ts'
import type { UpdateSite } from './schemas.ts'

/** The row, or row to be, after `input` was applied to it. */
export function applyToSite<T extends Omit<SiteRow, 'site_no'>>(row: T, input: UpdateSite): T {
  const { name, is_active, ...others } = input
  return {
    ...row,
    ...others,
    name: name === undefined ? row.name : name.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
  }
}
