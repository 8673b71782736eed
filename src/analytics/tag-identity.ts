import type { RawBuilder, SqlBool } from 'kysely'
import { OTHER } from '../rollups/index.ts'
import type { Kysely, Tables, TagNameTable } from '../store/index.ts'
import { isOneOf } from './sums.ts'

export type TagNameRow = Omit<TagNameTable, 'site_no'>

/** By container: the key under which another key's rows are reported. Unchanged keys are left out. */
export type CanonicalKeys = ReadonlyMap<string, ReadonlyMap<string, string>>

export const idKey = (tagId: string): string => `tag_${tagId}`

/**
 * Works out which keys are the same tag. Within a container, rows of `tag_<id>` belong to that id's latest name. Rows of an old
 * name belong to the newer name of the id that left it, unless another id still uses the old name. A newer name is always one
 * that an id still holds, so a key never leads on to a third.
 */
export function canonicalTagKeys(rows: readonly TagNameRow[]): CanonicalKeys {
  const byContainer = Map.groupBy(named(rows), (row) => row.container_id)
  return new Map(Array.from(byContainer, ([containerId, names]) => [containerId, keysOfContainer(names)]))
}

function keysOfContainer(rows: readonly TagNameRow[]): Map<string, string> {
  const latest = latestNames(rows)
  const held = new Set(Array.from(latest.values(), (row) => row.tag_name))
  const keys = new Map<string, string>()
  for (const [tagId, { tag_name }] of latest) keys.set(idKey(tagId), tag_name)
  for (const row of oldestFirst(rows)) {
    const successor = latest.get(row.tag_id)
    if (!held.has(row.tag_name) && successor !== undefined) keys.set(row.tag_name, successor.tag_name)
  }
  // A name in use that looks like an id's key is its own key.
  for (const name of held) keys.delete(name)
  return keys
}

/** The latest name of each id. */
function latestNames(rows: readonly TagNameRow[]): Map<string, TagNameRow> {
  return new Map(oldestFirst(rows).map((row) => [row.tag_id, row]))
}

/** Names last seen at the same time are ordered by text, so that a report does not depend on the order of rows. */
const oldestFirst = (rows: readonly TagNameRow[]): TagNameRow[] =>
  rows.toSorted((a, b) => a.last_seen_at - b.last_seen_at || (a.tag_name < b.tag_name ? -1 : 1))

/** Leaves out links to `(other)`: it stands for all tags over the cap and is no tag's name. */
const named = (rows: readonly TagNameRow[]): TagNameRow[] => rows.filter((row) => row.tag_name !== OTHER)

/** Maps the keys of a site's tags for reports. */
export interface TagIdentity {
  /** The key under which a row is reported. */
  keyOf: (containerId: string, rawKey: string) => string
  /** Every key that rows of this tag may have. */
  rawKeysOf: (key: string) => string[]
  /** The key that a caller may mean by `key`, which may be an old name or `tag_<id>`. */
  resolve: (key: string) => string
  /** The id last seen under this key; null when only batches named it. */
  idOf: (key: string) => string | null
  nameOf: (key: string) => string | null
}

/** A site's tag identity as of now. */
export async function identityOf(db: Kysely<Tables>, siteNo: number): Promise<TagIdentity> {
  const rows = await db
    .selectFrom('tag_names')
    .select(['container_id', 'tag_id', 'tag_name', 'last_seen_at'])
    .where('site_no', '=', siteNo)
    .execute()
  return tagIdentity(rows)
}

export function tagIdentity(allRows: readonly TagNameRow[]): TagIdentity {
  const rows = oldestFirst(named(allRows))
  const keys = canonicalTagKeys(rows)
  const keyOf = (containerId: string, rawKey: string) => keys.get(containerId)?.get(rawKey) ?? rawKey
  const names = new Set(rows.map((row) => row.tag_name))
  const ids = new Map(rows.map((row) => [keyOf(row.container_id, row.tag_name), row.tag_id]))
  const rawKeys = new Map<string, Set<string>>()
  const meant = new Map<string, string>()
  for (const { container_id, tag_id, tag_name } of rows) {
    for (const rawKey of [tag_name, idKey(tag_id)]) {
      const key = keyOf(container_id, rawKey)
      rawKeys.set(key, (rawKeys.get(key) ?? new Set([key])).add(rawKey))
      meant.set(rawKey, key)
    }
  }
  const idInKey = (key: string) => (!names.has(key) && key.startsWith('tag_') ? key.slice('tag_'.length) : null)
  return {
    keyOf,
    rawKeysOf: (key) => [...(rawKeys.get(key) ?? [key])],
    resolve: (key) => meant.get(key) ?? key,
    idOf: (key) => ids.get(key) ?? idInKey(key),
    nameOf: (key) => (key === OTHER || idInKey(key) !== null ? null : key),
  }
}

/** Every key that rows of the tag meant by `key` may have. */
export const rawKeysMeant = (identity: TagIdentity, key: string): string[] => [
  ...new Set([...identity.rawKeysOf(key), ...identity.rawKeysOf(identity.resolve(key))]),
]

/**
 * Beyond this many keys, all rows are read instead: each key is a parameter in every part of a statement, of which engines accept
 * 32,766 and 65,535. A sender that renames a tag each time has thousands.
 */
const MOST_KEYS = 200

/** Condition for the rows of the tag meant by `key`, perhaps with others that `keyOf` tells apart; undefined to read all. */
export function rowsMeant(identity: TagIdentity, key: string): RawBuilder<SqlBool> | undefined {
  const keys = rawKeysMeant(identity, key)
  return keys.length > MOST_KEYS ? undefined : isOneOf('tag_key', keys)
}

/**
 * The tag meant by `key`: the one reported under it, otherwise the one it leads to. (`tag_31` may be an unnamed tag in one
 * container and have a name in another.)
 */
export const meantTag = (identity: TagIdentity, key: string, isReported: (key: string) => boolean): string =>
  isReported(key) ? key : identity.resolve(key)
