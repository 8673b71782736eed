import type { ExpressionBuilder } from 'kysely'
import { livingNodes } from '../cluster/index.ts'
import type { ProbeRow, Store, Tables } from '../store/index.ts'

/** Whose claims these are, and when they are made. */
export interface Claimant {
  store: Store
  nodeId: string
  now: number
}

/**
 * Claims the probes of these types that are due until then, those first that have been for longest, and returns them: one
 * statement, so that each is got by one node. A claim is its node's until it is given back or the node is dead.
 *
 * @param until epoch ms
 */
export async function claimDue(
  { store, nodeId, now }: Claimant,
  types: readonly string[],
  until: number,
  limit: number,
): Promise<ProbeRow[]> {
  if (types.length === 0 || limit <= 0) return []
  const rows = await store.write
    .updateTable('probes')
    .set({ claimed_by: nodeId, claimed_at: now })
    .where('id', 'in', (db) =>
      db
        .selectFrom('probes')
        .select('id')
        .where('is_active', '=', 1)
        .where('next_run_at', '<=', until)
        .where('probe_type', 'in', types)
        .where(isFree(store, now))
        .orderBy('next_run_at')
        .limit(limit)
        // What another node is claiming at this moment is passed over instead of waited for.
        .$if(store.isShared, (due) => due.forUpdate().skipLocked()),
    )
    .returningAll()
    .execute()
  return rows.sort((a, b) => a.next_run_at - b.next_run_at)
}

/** Claims one probe, due or not; undefined when there is none or it is being run. */
export async function claimOne({ store, nodeId, now }: Claimant, id: string): Promise<ProbeRow | undefined> {
  return store.write
    .updateTable('probes')
    .set({ claimed_by: nodeId, claimed_at: now })
    .where('id', '=', id)
    .where(isFree(store, now))
    .returningAll()
    .executeTakeFirst()
}

/** Gives claims back without a result: the probes stay due. */
export async function releaseClaims(store: Store, nodeId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await store.write
    .updateTable('probes')
    .set({ claimed_by: null, claimed_at: null })
    .where('claimed_by', '=', nodeId)
    .where('id', 'in', ids)
    .execute()
}

const isFree = (store: Store, now: number) => (eb: ExpressionBuilder<Tables, 'probes'>) =>
  eb.or([eb('claimed_by', 'is', null), eb('claimed_by', 'not in', livingNodes(store.write, now))])
