import {
  AppError,
  DAY,
  invalidRequest,
  isoTime,
  isoTimeOrNull,
  newOrderedId,
  newSecret,
  notFound,
} from '../lib/index.ts'
import {
  type Kysely,
  type SiteKeyRow,
  type SiteRow,
  type Store,
  type Tables,
  type Transaction,
  upsertInto,
} from '../store/index.ts'
import { changedFields, writeAudit } from './audit.ts'
import { type Context, lockSite } from './context.ts'
import { endOf, firstKeyOf, keyState, keysOf, siteKeyFields } from './key-validity.ts'
import type { ChangeKey, RotateKey, UsedKey } from './site-key-schemas.ts'

/** Most valid keys of a site at a time. */
export const MOST_VALID_KEYS = 3
/** Ended keys are kept so that refusals can name them; beyond this number the first to end is dropped. */
const MOST_ENDED_KEYS = 10
/** How long the old key stays valid by default. */
const OVERLAP_MS = 7 * DAY
const LONGEST_OVERLAP_MS = 365 * DAY

/** A site's keys with their last uses, newest first. */
export async function listKeys(db: Kysely<Tables>, site: SiteRow): Promise<UsedKey[]> {
  const keys = keysOf(site, await keyRowsOf(db, site.id))
  return withUses(db, site, keys.toReversed())
}

async function withUses(db: Kysely<Tables>, site: SiteRow, keys: readonly SiteKeyRow[]): Promise<UsedKey[]> {
  const uses = await db
    .selectFrom('site_key_uses')
    .select(['key_id', 'last_used_at'])
    .where('site_no', '=', site.site_no)
    .execute()
  const usedAt = new Map(uses.map(({ key_id, last_used_at }) => [key_id, last_used_at]))
  return keys.map((key) => ({ key, lastUsedAt: usedAt.get(key.id) ?? null }))
}

const keyRowsOf = (db: Kysely<Tables>, siteId: string): Promise<SiteKeyRow[]> =>
  db.selectFrom('site_keys').selectAll().where('site_id', '=', siteId).execute()

/** Adds a new site's first key, in the transaction that adds the site. */
export async function insertFirstKey(trx: Transaction<Tables>, site: SiteRow): Promise<void> {
  await trx.insertInto('site_keys').values(firstKeyOf(site)).execute()
}

/** Adds a key. @throws AppError `not_found`, or `conflict` when the site has the most valid keys allowed */
export async function addKey(ctx: Context, siteId: string, name: string): Promise<UsedKey> {
  return changeKeys(ctx, siteId, (keys, now) => {
    requireRoom(keys, now)
    const key = newKey(siteId, name.trim(), now)
    return { keys: [...keys, key], shown: key, audit: { verb: 'add_key', before: {}, after: audited(key) } }
  })
}

/**
 * Makes a new key to replace one that stays valid for a while.
 *
 * @returns the new key
 * @throws AppError `not_found`, `invalid_request`, or `conflict` when the key has ended or is being replaced, or there are too
 * many
 */
export async function rotateKey(ctx: Context, siteId: string, keyId: string, input: RotateKey): Promise<UsedKey> {
  return changeKeys(ctx, siteId, (keys, now) => {
    const old = requireKey(keys, keyId)
    requireState(old, now, ['valid'], 'is already being replaced: rotate the key that replaces it')
    requireRoom(keys, now)
    const ended = { ...old, expires_at: endGiven('/old_until', input.old_until, now) ?? now + OVERLAP_MS }
    const key = newKey(siteId, input.name?.trim() ?? old.name, now)
    return {
      keys: [...keys.map((each) => (each === old ? ended : each)), key],
      shown: key,
      audit: {
        verb: 'rotate_key',
        before: { ingest_key: old.ingest_key, old_key_expires_at: null },
        after: { ...audited(key), old_key: old.name, old_key_expires_at: isoTimeOrNull(ended.expires_at) },
      },
    }
  })
}

/** Ends a key at once and permanently. A key that has ended keeps its time. @throws AppError `not_found` */
export async function revokeOneKey(ctx: Context, siteId: string, keyId: string): Promise<UsedKey> {
  return changeKeys(ctx, siteId, (keys, now) => {
    const old = requireKey(keys, keyId)
    if (endOf(old) <= now) return { keys, shown: old, audit: null }
    const revoked = { ...old, revoked_at: now }
    return {
      keys: keys.map((each) => (each === old ? revoked : each)),
      shown: revoked,
      audit: { verb: 'revoke_key', before: { revoked_at: null }, after: { key: old.name, revoked_at: isoTime(now) } },
    }
  })
}

/** Renames a key, or moves the end of one that is being replaced. @throws AppError `not_found`, `invalid_request`, `conflict` */
export async function changeKey(ctx: Context, siteId: string, keyId: string, input: ChangeKey): Promise<UsedKey> {
  return changeKeys(ctx, siteId, (keys, now) => {
    const old = requireKey(keys, keyId)
    const expires_at = endGiven('/expires_at', input.expires_at, now)
    if (expires_at !== undefined) requireState(old, now, ['expiring'], 'has no end to change: rotate or revoke it')
    const changed: SiteKeyRow = {
      ...old,
      name: input.name?.trim() ?? old.name,
      ...(expires_at === undefined ? {} : { expires_at }),
    }
    if (changed.name === old.name && changed.expires_at === old.expires_at) return { keys, shown: old, audit: null }
    const shown = ({ name, expires_at: end }: SiteKeyRow) => ({ name, expires_at: isoTimeOrNull(end) })
    return {
      keys: keys.map((each) => (each === old ? changed : each)),
      shown: changed,
      audit: { verb: 'update_key', before: shown(old), after: { key: old.name, ...shown(changed) } },
    }
  })
}

interface KeysChange {
  /** All keys after the change, oldest first. */
  keys: readonly SiteKeyRow[]
  /** The key to answer with. */
  shown: SiteKeyRow
  /** Null when nothing has changed. */
  audit: {
    verb: 'add_key' | 'rotate_key' | 'revoke_key' | 'update_key'
    before: Readonly<Record<string, unknown>>
    after: Readonly<Record<string, unknown>>
  } | null
}

async function changeKeys(
  ctx: Context,
  siteId: string,
  decide: (keys: readonly SiteKeyRow[], now: number) => KeysChange,
): Promise<UsedKey> {
  const { shown, isChanged } = await ctx.store.write.transaction().execute(async (trx) => {
    const site = await lockSite(trx, siteId)
    if (site === undefined) throw notFound('Site')
    const now = ctx.clock.now()
    const stored = await keyRowsOf(trx, siteId)
    const { keys, shown: answer, audit } = decide(keysOf(site, stored), now)
    // All that is answered is read here: a read that failed after the commit would hide the change.
    const [used = { key: answer, lastUsedAt: null }] = await withUses(trx, site, [answer])
    if (audit === null) return { shown: used, isChanged: false }
    await writeKeys(trx, site, stored, keys, now)
    await writeAudit(trx, ctx, [{ entity: 'site', id: siteId, ...audit }])
    return { shown: used, isChanged: true }
  })
  if (isChanged) await ctx.store.changes.publish({ kind: 'site', id: siteId })
  return shown
}

/** Revokes all valid keys of a site in the transaction that has locked it. Returns the site's new row. */
export async function revokeValidKeys(trx: Transaction<Tables>, site: SiteRow, now: number): Promise<SiteRow> {
  const stored = await keyRowsOf(trx, site.id)
  const keys = keysOf(site, stored).map((key) => (now < endOf(key) ? { ...key, revoked_at: now } : key))
  return writeKeys(trx, site, stored, keys, now)
}

/** Updates the stored keys and the site's own row. */
async function writeKeys(
  trx: Transaction<Tables>,
  site: SiteRow,
  stored: readonly SiteKeyRow[],
  keys: readonly SiteKeyRow[],
  now: number,
): Promise<SiteRow> {
  const kept = withoutLongEnded(keys, now)
  const before = new Map(stored.map((key) => [key.id, key]))
  for (const key of kept) {
    const old = before.get(key.id)
    before.delete(key.id)
    if (old === undefined) await trx.insertInto('site_keys').values(key).execute()
    else {
      const changed = changedFields(old, key)
      if (Object.keys(changed).length > 0) {
        await trx.updateTable('site_keys').set(changed).where('id', '=', key.id).execute()
      }
    }
  }
  for (const id of before.keys()) {
    await trx.deleteFrom('site_keys').where('id', '=', id).execute()
    await trx.deleteFrom('site_key_uses').where('site_no', '=', site.site_no).where('key_id', '=', id).execute()
  }
  const fields = siteKeyFields(kept)
  await trx.updateTable('sites').set(fields).where('id', '=', site.id).execute()
  return { ...site, ...fields }
}

function withoutLongEnded(keys: readonly SiteKeyRow[], now: number): readonly SiteKeyRow[] {
  const ended = keys.filter((key) => endOf(key) <= now).toSorted((a, b) => endOf(b) - endOf(a))
  const forgotten = new Set(ended.slice(MOST_ENDED_KEYS))
  return keys.filter((key) => !forgotten.has(key))
}

const newKey = (siteId: string, name: string, now: number): SiteKeyRow => ({
  id: newOrderedId(now),
  site_id: siteId,
  name,
  ingest_key: newSecret(),
  created_at: now,
  expires_at: null,
  revoked_at: null,
})

const audited = ({ name, ingest_key }: SiteKeyRow) => ({ key: name, ingest_key })

function requireKey(keys: readonly SiteKeyRow[], id: string): SiteKeyRow {
  const key = keys.find((each) => each.id === id)
  if (key === undefined) throw notFound('Key')
  return key
}

function requireRoom(keys: readonly SiteKeyRow[], now: number): void {
  if (keys.filter((key) => now < endOf(key)).length < MOST_VALID_KEYS) return
  throw new AppError('conflict', `The site has ${MOST_VALID_KEYS} valid keys: revoke one first`)
}

/** @param otherwise the message for a key in another state that has not ended */
function requireState(
  key: SiteKeyRow,
  now: number,
  allowed: readonly ('valid' | 'expiring')[],
  otherwise: string,
): void {
  const state = keyState(key, now)
  if (allowed.some((each) => each === state)) return
  const isOver = state === 'expired' || state === 'revoked'
  throw new AppError('conflict', `The key “${key.name}” ${isOver ? `is ${state}: add a new key` : otherwise}`)
}

/** @throws AppError `invalid_request` when it is in the past, or too far ahead */
function endGiven(path: string, given: string | null | undefined, now: number): number | null | undefined {
  if (given === undefined || given === null) return given
  const time = Date.parse(given)
  if (time <= now) throw invalidRequest(path, 'must be in the future: revoke the key to end it at once')
  if (time > now + LONGEST_OVERLAP_MS) throw invalidRequest(path, 'must be within a year')
  return time
}

/** The latest request with a key. */
export interface KeyUse {
  siteNo: number
  keyId: string
  /** Epoch ms */
  at: number
}

const keyUses = upsertInto('site_key_uses', { keys: ['site_no', 'key_id'], maxima: ['last_used_at'] })

/** Rows per transaction: a few milliseconds of the writer's time. */
const USES_PER_STEP = 2_000

/** Records when keys were last used; an older time changes nothing. @throws StoreError */
export async function writeKeyUses(store: Pick<Store, 'batch'>, uses: readonly KeyUse[]): Promise<void> {
  for (let start = 0; start < uses.length; start += USES_PER_STEP) {
    const values = uses.slice(start, start + USES_PER_STEP).flatMap(({ siteNo, keyId, at }) => [siteNo, keyId, at])
    await store.batch([{ kind: 'upsert', spec: keyUses, values }])
  }
}
