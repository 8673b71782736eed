import type { SiteKeyRow, SiteRow } from '../store/index.ts'

/** The name of a site's first key. */
const FIRST_KEY = 'main'

/** A site's own row, as far as it concerns keys. */
export type SiteOfKeys = Pick<SiteRow, 'id' | 'ingest_key' | 'key_revoked_at' | 'created_at'>

/**
 * The keys of a site, oldest first.
 *
 * During a rolling upgrade, nodes of the previous version know only the site's row: a site that they create has no row in
 * `site_keys`, and a key that they revoke is revoked only in the site's row.
 *
 * @param rows those of `site_keys`, in any order
 */
export function keysOf(site: SiteOfKeys, rows: readonly SiteKeyRow[]): SiteKeyRow[] {
  const own = rows.find(({ ingest_key }) => ingest_key === site.ingest_key) ?? firstKeyOf(site)
  const known = [...rows.filter((row) => row !== own), revokedWithSite(own, site)]
  return known.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
}

export const firstKeyOf = ({ id, ingest_key, created_at }: SiteOfKeys): SiteKeyRow => ({
  id,
  site_id: id,
  name: FIRST_KEY,
  ingest_key,
  created_at,
  expires_at: null,
  revoked_at: null,
})

/** Applies a revocation in the site's row: `key_revoked_at` is before the end of the site's own key only if the key was revoked there. */
function revokedWithSite(own: SiteKeyRow, { key_revoked_at }: SiteOfKeys): SiteKeyRow {
  if (key_revoked_at === null || key_revoked_at >= endOf(own)) return own
  return { ...own, revoked_at: key_revoked_at }
}

/** Whether all keys of a site have ended. @param now epoch ms */
export const hasNoKey = ({ key_revoked_at }: Pick<SiteRow, 'key_revoked_at'>, now: number): boolean =>
  key_revoked_at !== null && key_revoked_at <= now

type KeyTimes = Pick<SiteKeyRow, 'expires_at' | 'revoked_at'>

/** From when on the key is refused, epoch ms; infinite when it has no end. */
export const endOf = ({ expires_at, revoked_at }: KeyTimes): number =>
  Math.min(expires_at ?? Number.POSITIVE_INFINITY, revoked_at ?? Number.POSITIVE_INFINITY)

export type KeyState = 'valid' | 'expiring' | 'expired' | 'revoked'

/** @param now epoch ms */
export function keyState(key: KeyTimes, now: number): KeyState {
  const { expires_at, revoked_at } = key
  if (now < endOf(key)) return expires_at === null ? 'valid' : 'expiring'
  return revoked_at !== null && revoked_at <= (expires_at ?? Number.POSITIVE_INFINITY) ? 'revoked' : 'expired'
}

/**
 * The key columns of the site's own row.
 *
 * @param keys oldest first, at least one
 */
export function siteKeyFields(keys: readonly SiteKeyRow[]): Pick<SiteRow, 'ingest_key' | 'key_revoked_at'> {
  const [last] = keys.toReversed().toSorted((a, b) => compareEnds(endOf(b), endOf(a)))
  if (last === undefined) throw new Error('a site has no key')
  const end = endOf(last)
  return { ingest_key: last.ingest_key, key_revoked_at: end === Number.POSITIVE_INFINITY ? null : end }
}

/** Compares for sorting; the difference of two infinite ends would be NaN. */
const compareEnds = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)
