import type { ClientRole, Grants } from '../../http/index.ts'
import { joined, NO_GRANTS } from '../../http/index.ts'
import { isUuid } from '../../lib/index.ts'
import type { Kysely, Tables } from '../../store/index.ts'

/** The role of a group, from the settings. */
export interface GroupRole {
  group: string
  role: ClientRole
  /** Names or ids; null for every client and the service itself. */
  clients: readonly string[] | null
}

/** Warns of a client in a rule that does not exist, or whose name several clients have. */
export type WarnOfClient = (name: string, count: number) => void

export const warnOfClient =
  (warn: (facts: object, message: string) => void): WarnOfClient =>
  (client, count) =>
    warn(
      { client, count },
      "GROUP_ROLES names a client that does not exist, or several clients have this name: use the client's id",
    )

/** The grants that someone's groups give now, by the clients' current names. */
export async function grantsOfGroups(
  db: Kysely<Tables>,
  rules: readonly GroupRole[],
  groups: readonly string[],
  warn: WarnOfClient,
): Promise<Grants> {
  const own = new Set(groups)
  const matching = rules.filter(({ group }) => own.has(group))
  if (matching.every(({ clients }) => clients === null)) {
    return matching.map(({ role }) => grantOf(role, null)).reduce(joined, NO_GRANTS)
  }
  const clients = await db.selectFrom('clients').select(['id', 'name']).execute()
  const idOf = (wanted: string): string[] => {
    const found = clients.filter(({ id, name }) => (isUuid(wanted) ? id === wanted.toLowerCase() : name === wanted))
    // A name that two clients have must not give access to the wrong one.
    if (found.length !== 1) warn(wanted, found.length)
    return found.length === 1 ? found.map(({ id }) => id) : []
  }
  return matching
    .map(({ role, clients: named }) => grantOf(role, named === null ? null : named.flatMap(idOf)))
    .reduce(joined, NO_GRANTS)
}

const grantOf = (role: ClientRole, ids: readonly string[] | null): Grants =>
  ids === null ? { all: role, clients: new Map() } : { all: null, clients: new Map(ids.map((id) => [id, role])) }
