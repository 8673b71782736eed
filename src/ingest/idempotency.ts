import { DAY } from '../lib/index.ts'
import { attemptEach, untilDone } from '../rollups/index.ts'
import { type BatchOperation, chunksOf, type Store, StoreError } from '../store/index.ts'

/** How long a key keeps its payload from being counted again, ms. */
export const IDEMPOTENCY_WINDOW_MS = DAY
export const IDEMPOTENCY_KEY_MAX = 128

/** Each finds at least one key taken, so that nearly always the second succeeds. */
const MAX_TRIES = 10
/** Keys removed by one statement. */
const KEYS_PER_STATEMENT = 500

export interface IdempotencyClaim<S> {
  siteNo: number
  key: string
  submission: S
}

/**
 * Claims the keys that are free, not used for the same site within the last 24 hours nor earlier in `claims`, in one
 * transaction with what they stand for, and returns those claims. Nearly always all are free: that is one trip to the engine.
 * Otherwise nothing was written, those that are taken are found out and left away, and the rest is tried again. A key that
 * another process is just claiming is waited for: it is free when that process fails to commit.
 *
 * @param now the time that is written down, epoch ms
 * @param expiryTime the time by which keys have run out; null: none has
 * @param operationsFor what to write for the claims that are free; for none and nothing else to write an empty list
 * @throws StoreError; after `unavailable` it may have been written
 */
export async function claimKeys<S>(
  store: Store,
  claims: readonly IdempotencyClaim<S>[],
  now: number,
  operationsFor: (free: readonly IdempotencyClaim<S>[]) => BatchOperation[],
  expiryTime: number | null = now,
): Promise<IdempotencyClaim<S>[]> {
  // By a clock in doubt no key has run out: none was accepted before time began.
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

/** Every process locks keys in this order, so that two groups with the same keys cannot wait for each other in a circle. */
const inLockOrder = <S>(firsts: ReadonlyMap<string, IdempotencyClaim<S>>): IdempotencyClaim<S>[] =>
  [...firsts.values()].sort(bySiteAndKey)

/** Writes keys; a row that the condition leaves as it is is not changed, and fails the batch. */
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
        // A key that has run out but was not cleared away yet is free again.
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
 * Removes keys that have run out, some at a time, so that commits get their turns in between. Any process may do so. A site whose
 * keys cannot be removed keeps no other from its turn.
 *
 * @param mayGoOn asked before each step: the clock that the keys have run out by may be doubted meanwhile
 * @throws the first failure, when all others are done
 */
export async function clearIdempotencyKeys(store: Store, now: number, mayGoOn: () => boolean): Promise<void> {
  const upTo = now - IDEMPOTENCY_WINDOW_MS
  const sites = await store.read
    .selectFrom('idempotency_keys')
    .select('site_no')
    .distinct()
    .where('accepted_at', '<=', upTo)
    .execute()
  // Site by site: in a cluster rows are locked on one node, not on all of them at once.
  await attemptEach(sites, ({ site_no }) =>
    untilDone(async () => (await removeExpired(store, site_no, upTo)) >= KEYS_PER_STATEMENT, mayGoOn),
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
          // Not in the order in which claims lock keys: so what others hold is passed over instead of waited for.
          .$if(store.isShared, (expired) => expired.forUpdate().skipLocked()),
      ),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows
}
