import { DAY } from '../lib/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'

/** How long a key keeps its payload from being counted again, ms. */
export const IDEMPOTENCY_WINDOW_MS = DAY
export const IDEMPOTENCY_KEY_MAX = 128

export interface IdempotencyClaim<S> {
  siteNo: number
  key: string
  submission: S
}

/**
 * Claims keys inside the transaction that counts their payloads, and returns the claims that were free: not used for
 * the same site within the last 24 hours, nor earlier in `claims`.
 */
export async function claimKeys<S>(
  trx: Transaction<Tables>,
  claims: readonly IdempotencyClaim<S>[],
  now: number,
): Promise<IdempotencyClaim<S>[]> {
  const free: IdempotencyClaim<S>[] = []
  for (const claim of claims) {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('idempotency_keys')
      .values({ site_no: claim.siteNo, idempotency_key: claim.key, accepted_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(['site_no', 'idempotency_key'])
          .doUpdateSet({ accepted_at: now })
          // A key that has run out but was not cleared away yet is free again.
          .where('idempotency_keys.accepted_at', '<=', now - IDEMPOTENCY_WINDOW_MS),
      )
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 1n) free.push(claim)
  }
  return free
}

/** Removes keys that have run out. */
export async function clearIdempotencyKeys(store: Store, now: number): Promise<void> {
  await store.write
    .deleteFrom('idempotency_keys')
    .where('accepted_at', '<=', now - IDEMPOTENCY_WINDOW_MS)
    .execute()
}
