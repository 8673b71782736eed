import type { Kysely } from 'kysely'
import { DAY } from '../lib/index.ts'
import { type BatchOperation, chunksOf, type Store, type Tables, type Transaction } from '../store/index.ts'

/** How long a key keeps its payload from being counted again, ms. */
export const IDEMPOTENCY_WINDOW_MS = DAY
export const IDEMPOTENCY_KEY_MAX = 128

/** Keys removed by one statement. */
const KEYS_PER_STATEMENT = 500

export interface IdempotencyClaim<S> {
  siteNo: number
  key: string
  submission: S
}

/**
 * Claims keys inside the transaction that counts their payloads, and returns the claims that were free: not used for
 * the same site within the last 24 hours, nor earlier in `claims`. A key that another process is just claiming is waited
 * for: it is free when that process fails to commit.
 */
export async function claimKeys<S>(
  trx: Transaction<Tables>,
  claims: readonly IdempotencyClaim<S>[],
  now: number,
): Promise<IdempotencyClaim<S>[]> {
  const firsts = firstsOf(claims)
  const free: IdempotencyClaim<S>[] = []
  for (const chunk of chunksOf(inLockOrder(firsts))) {
    for (const row of await claimRows(trx, chunk, now).returning(['site_no', 'idempotency_key']).execute()) {
      const claim = firsts.get(idOf(row.site_no, row.idempotency_key))
      if (claim !== undefined) free.push(claim)
    }
  }
  return free
}

/**
 * The same in one trip to the engine, for the usual case: a batch with these operations fails with `unexpected_changes` unless
 * all keys are free. Undefined when a key occurs twice, as then they cannot be.
 */
export function claimAllOrNone<S>(
  db: Kysely<Tables>,
  claims: readonly IdempotencyClaim<S>[],
  now: number,
): BatchOperation[] | undefined {
  const firsts = firstsOf(claims)
  if (firsts.size < claims.length) return undefined
  return chunksOf(inLockOrder(firsts)).map((chunk) => ({
    kind: 'statement',
    query: claimRows(db, chunk, now).compile(),
    expectChanges: chunk.length,
  }))
}

function firstsOf<S>(claims: readonly IdempotencyClaim<S>[]): Map<string, IdempotencyClaim<S>> {
  const firsts = new Map<string, IdempotencyClaim<S>>()
  for (const claim of claims) {
    const id = idOf(claim.siteNo, claim.key)
    if (!firsts.has(id)) firsts.set(id, claim)
  }
  return firsts
}

/** Every process locks keys in this order, so that two groups with the same keys cannot wait for each other in a circle. */
const inLockOrder = <S>(firsts: ReadonlyMap<string, IdempotencyClaim<S>>): IdempotencyClaim<S>[] =>
  [...firsts.values()].sort(bySiteAndKey)

/** Writes the keys that are free: a row that the condition leaves as it is is not changed, and does not come back. */
function claimRows(db: Kysely<Tables>, claims: readonly IdempotencyClaim<unknown>[], now: number) {
  return db
    .insertInto('idempotency_keys')
    .values(claims.map(({ siteNo, key }) => ({ site_no: siteNo, idempotency_key: key, accepted_at: now })))
    .onConflict((conflict) =>
      conflict
        .columns(['site_no', 'idempotency_key'])
        .doUpdateSet({ accepted_at: now })
        // A key that has run out but was not cleared away yet is free again.
        .where('idempotency_keys.accepted_at', '<=', now - IDEMPOTENCY_WINDOW_MS),
    )
}

const idOf = (siteNo: number, key: string): string => `${siteNo}|${key}`

function bySiteAndKey(a: IdempotencyClaim<unknown>, b: IdempotencyClaim<unknown>): number {
  if (a.siteNo !== b.siteNo) return a.siteNo - b.siteNo
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/** Removes keys that have run out, some at a time, so that commits get their turns in between. Any process may do so. */
export async function clearIdempotencyKeys(store: Store, now: number): Promise<void> {
  const upTo = now - IDEMPOTENCY_WINDOW_MS
  const sites = await store.read
    .selectFrom('idempotency_keys')
    .select('site_no')
    .distinct()
    .where('accepted_at', '<=', upTo)
    .execute()
  // Site by site: in a cluster rows are locked on one node, not on all of them at once.
  for (const { site_no } of sites) while ((await removeExpired(store, site_no, upTo)) >= KEYS_PER_STATEMENT);
}

async function removeExpired(store: Store, siteNo: number, upTo: number): Promise<bigint> {
  const { numDeletedRows } = await store.write
    .deleteFrom('idempotency_keys')
    .where('site_no', '=', siteNo)
    .where(({ eb, selectFrom }) =>
      eb(
        'idempotency_key',
        'in',
        selectFrom('idempotency_keys')
          .select('idempotency_key')
          .where('site_no', '=', siteNo)
          .where('accepted_at', '<=', upTo)
          .limit(KEYS_PER_STATEMENT)
          // Not in the order in which claims lock keys: so what others hold is passed over instead of waited for.
          .$if(store.isShared, (expired) => expired.forUpdate().skipLocked()),
      ),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows
}
