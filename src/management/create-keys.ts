import { AppError } from '../lib/index.ts'
import { type CreateKeyTable, chunksOf, type Store, type Tables, type Transaction, untilDone } from '../store/index.ts'

/** A create that was sent with an `Idempotency-Key`. */
export interface KeyedCreate extends Pick<CreateKeyTable, 'id' | 'fingerprint'> {
  /** Whether this request has stored the key. */
  isClaimed: boolean
}

/**
 * Stores the key in the transaction that creates the entity, so that both exist or neither. Waits for another request that is
 * creating with the same key.
 *
 * @throws AppError `conflict` when the key is taken
 */
export async function claimKey(
  trx: Transaction<Tables>,
  create: KeyedCreate,
  { action, entity_id, at }: { action: string; entity_id: string; at: number },
): Promise<void> {
  // One request may audit several entities, such as a site with its probes.
  if (create.isClaimed) return
  const { id, fingerprint } = create
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('create_keys')
    .values({ id, fingerprint, action, entity_id, answer: null, created_at: at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) {
    throw new AppError('conflict', 'Another request with the same Idempotency-Key arrived first')
  }
  create.isClaimed = true
}

export type CreatedBefore = Omit<CreateKeyTable, 'id'>

export const findKey = ({ read }: Pick<Store, 'read'>, id: string): Promise<CreatedBefore | undefined> =>
  read
    .selectFrom('create_keys')
    .select(['fingerprint', 'action', 'entity_id', 'answer', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst()

export async function keepAnswer({ write }: Pick<Store, 'write'>, id: string, answer: string): Promise<void> {
  await write.updateTable('create_keys').set({ answer }).where('id', '=', id).execute()
}

/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 500

/** Deletes the keys of creates up to a time, epoch ms, in small steps. */
export async function clearKeys(
  { read, write }: Pick<Store, 'read' | 'write'>,
  upTo: number,
  shouldContinue: () => boolean,
): Promise<void> {
  await untilDone(async () => {
    const old = await read
      .selectFrom('create_keys')
      .select('id')
      .where('created_at', '<=', upTo)
      .limit(ROWS_PER_STEP)
      .execute()
    const ids = old.map(({ id }) => id)
    for (const chunk of chunksOf(ids)) await write.deleteFrom('create_keys').where('id', 'in', chunk).execute()
    return ids.length === ROWS_PER_STEP
  }, shouldContinue)
}
