import { type Access, seesAll } from '../../http/index.ts'
import { requireRoom } from '../../management/index.ts'
import { lockText, type SiteRow, type Store, type Tables, type Transaction } from '../../store/index.ts'

/** Probes that people with access to some clients may add to one client's sites: the search for due probes goes through all of them. */
export const MOST_OF_CLIENT = 5_000

/** How many probes the sites of a client may have once the caller has added one. */
export const mostProbes = (access: Access): number => (seesAll(access) ? Number.POSITIVE_INFINITY : MOST_OF_CLIENT)

/**
 * The transaction also holds the lock of the site; with that alone, several could count before any of them adds.
 *
 * @throws AppError `conflict` when the sites of the client would have more than `most` probes with those that are added
 */
export async function requireRoomFor(
  trx: Transaction<Tables>,
  store: Pick<Store, 'isShared'>,
  { client_id }: SiteRow,
  most: number,
  added = 1,
): Promise<void> {
  if (most === Number.POSITIVE_INFINITY) return
  await lockText(trx, store, `probes of ${client_id}`)
  await requireRoom(
    trx
      .selectFrom('probes')
      .innerJoin('sites', 'sites.id', 'probes.site_id')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('client_id', '=', client_id),
    most - added + 1,
    `The client has ${most} probes: delete one, or ask an owner of all clients to add more`,
  )
}
