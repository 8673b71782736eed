import { DAY } from '../lib/index.ts'
import { attemptEach, type BatchOperation, chunksOf, type Store, StoreError, untilDone } from '../store/index.ts'

/** How long a key prevents its payload from being counted again, ms. */
export const IDEMPOTENCY_WINDOW_MS = DAY
export const IDEMPOTENCY_KEY_MAX = 128

/** Each failed try finds at least one taken key, so the second nearly always succeeds. */
const MAX_TRIES = 10
/** Keys that one statement removes. */
const KEYS_PER_STATEMENT = 500

export interface IdempotencyClaim<S> {
  siteNo: number
  key: string
  submission: S
}

/**
 * Claims the free keys and writes what they stand for, in one transaction, and returns their claims. A key is free if the site
 * has not used it within the last 24 hours, nor earlier in `claims`. Nearly always all are free, which takes one round trip.
 * Otherwise nothing was written: the function looks up the taken keys, leaves them out and tries again. It waits for a key that
 * another process is claiming, as that one may fail to commit.
 *
 * @param now the time to write, epoch ms @param expiryTime the time by which keys expire, epoch ms; null: none has expired @param
 * operationsFor what to write for the free claims; an empty list if there is nothing to write @throws StoreError; after
 * `unavailable` it may have been written
 */
export async function claimKeys<S>(
  store: Store,
  claims: readonly IdempotencyClaim<S>[],
  now: number,
  operationsFor: (free: readonly IdempotencyClaim<S>[]) => BatchOperation[],
  expiryTime: number | null = now,
): Promise<IdempotencyClaim<S>[]> {
  // While the clock is in doubt no key expires: none was accepted before the epoch.
  const ranOutUpTo = expiryTime === null ? -1 : expiryTime - IDEMPOTENCY_WINDOW_MS
  let free = inLockOrder(firstsOf(claims))
  for (let tries = MAX_TRIES; tries > 0; tries--) {
    const operations = [
      ...chunksOf(free).map((chunk) => claimAll(store, chunk, now, ranOutUpTo)),
      ...operationsFor(free),
    ]
    try {
      if (operations.length > 0) await store.batch(operations, { isUrgent: true })
      return free
    } catch (thrown) {
      if (!(thrown instanceof StoreError && thrown.kind === 'unexpected_changes')) throw thrown
    }
    const taken = await takenKeys(store, free, ranOutUpTo)
    free = free.filter(({ siteNo, key }) => !taken.has(idOf(siteNo, key)))
  }
  throw new StoreError('busy', 'keys were claimed by others again and again')
}

async function takenKeys<S>(
  store: Store,
  claims: readonly IdempotencyClaim<S>[],
  ranOutUpTo: number,
): Promise<Set<string>> {
  const taken = new Set<string>()
  for (const chunk of chunksOf(claims)) {
    const sites = Map.groupBy(chunk, ({ siteNo }) => siteNo)
    const rows = await store.read
      .selectFrom('idempotency_keys')
      .select(['site_no', 'idempotency_key'])
      .where('accepted_at', '>', ranOutUpTo)
      .where((eb) =>
        eb.or(
          [...sites].map(([siteNo, ofSite]) =>
            eb.and([
              eb('site_no', '=', siteNo),
              eb(
                'idempotency_key',
                'in',
                ofSite.map(({ key }) => key),
              ),
            ]),
          ),
        ),
      )
      .execute()
    for (const { site_no, idempotency_key } of rows) taken.add(idOf(site_no, idempotency_key))
  }
  return taken
}

function firstsOf<S>(claims: readonly IdempotencyClaim<S>[]): Map<string, IdempotencyClaim<S>> {
  const firsts = new Map<string, IdempotencyClaim<S>>()
  for (const claim of claims) {
    const id = idOf(claim.siteNo, claim.key)
    if (!firsts.has(id)) firsts.set(id, claim)
  }
  return firsts
}

/** Every process locks keys in this order, so that two groups with the same keys cannot deadlock. */
const inLockOrder = <S>(firsts: ReadonlyMap<string, IdempotencyClaim<S>>): IdempotencyClaim<S>[] =>
  [...firsts.values()].sort(bySiteAndKey)

/** Writes keys. A taken key stays unchanged, which fails the batch (`expectChanges`). */
function claimAll(
  store: Store,
  claims: readonly IdempotencyClaim<unknown>[],
  now: number,
  ranOutUpTo: number,
): BatchOperation {
  const query = store.write
    .insertInto('idempotency_keys')
    .values(claims.map(({ siteNo, key }) => ({ site_no: siteNo, idempotency_key: key, accepted_at: now })))
    .onConflict((conflict) =>
      conflict
        .columns(['site_no', 'idempotency_key'])
        .doUpdateSet({ accepted_at: now })
        // An expired key that is still in the table is free again.
        .where('idempotency_keys.accepted_at', '<=', ranOutUpTo),
    )
  return { kind: 'statement', query: query.compile(), expectChanges: claims.length }
}

const idOf = (siteNo: number, key: string): string => `${siteNo}|${key}`

function bySiteAndKey(a: IdempotencyClaim<unknown>, b: IdempotencyClaim<unknown>): number {
  if (a.siteNo !== b.siteNo) return a.siteNo - b.siteNo
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/**
 * Removes expired keys, some at a time, so that commits can run in between. Any process may do so. A site whose keys cannot be
 * removed does not block the others.
 *
 * @param shouldContinue asked before each step: the clock may come into doubt meanwhile @throws the first failure, after all
 * other sites are done
 */
export async function clearIdempotencyKeys(store: Store, now: number, shouldContinue: () => boolean): Promise<void> {
  const upTo = now - IDEMPOTENCY_WINDOW_MS
  const sites = await store.read
    .selectFrom('idempotency_keys')
    .select('site_no')
    .distinct()
    .where('accepted_at', '<=', upTo)
    .execute()
  // Site by site, because a cluster (Citus) keeps a site's rows on one node: so each statement locks rows on one only.
  await attemptEach(sites, ({ site_no }) =>
    untilDone(async () => (await removeExpired(store, site_no, upTo)) >= KEYS_PER_STATEMENT, shouldContinue),
  )
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
          // This order is not the one in which claims lock keys: skip rows that others hold, as waiting for them could deadlock.
          .$if(store.isShared, (expired) => expired.forUpdate().skipLocked()),
      ),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows
}
