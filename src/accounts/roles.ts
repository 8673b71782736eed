import {
  type Access,
  CLIENT_ROLES,
  type ClientRole,
  type Grants,
  roleFor,
  suffices,
  type Visible,
} from '../http/index.ts'
import { type Kysely, lockText, type Store, type Tables, type Transaction, type UserRoleRow } from '../store/index.ts'

type RoleRow = Pick<UserRoleRow, 'client_id' | 'role'>

/** The `client_id` for every client in `user_roles`. */
export const ALL_CLIENTS = 'all'

/**
 * Lets one transaction at a time give roles, make tokens or remove those of a deleted client. So no role is left of a client that
 * is deleted meanwhile, and limits hold for what several create at once. Take it before any lock of an account.
 */
export const lockGiving = (trx: Transaction<Tables>, store: Pick<Store, 'isShared'>): Promise<void> =>
  lockText(trx, store, 'roles and tokens')

/** A role in the API: for a client, or with null for all of them. */
export interface RoleEntry {
  client_id: string | null
  role: ClientRole
}

/** The grants of one user's rows, or of roles to give. */
export function grantsOf(rows: readonly RoleRow[]): Grants {
  const all = rows.find(({ client_id }) => client_id === ALL_CLIENTS)?.role ?? null
  const single = rows.filter(({ client_id }) => client_id !== ALL_CLIENTS)
  return { all, clients: new Map(single.map(({ client_id, role }) => [client_id, role])) }
}

export const grantsOfEntries = (entries: readonly RoleEntry[]): Grants =>
  grantsOf(entries.map(({ client_id, role }) => ({ client_id: client_id ?? ALL_CLIENTS, role })))

/** The role for all clients first. */
export const entriesOf = ({ all, clients }: Grants): RoleEntry[] => [
  ...(all === null ? [] : [{ client_id: null, role: all }]),
  ...Array.from(clients, ([client_id, role]) => ({ client_id, role })),
]

/** The grants as table rows. */
export const rowsOfGrants = (grants: Grants): RoleRow[] =>
  entriesOf(grants).map(({ client_id, role }) => ({ client_id: client_id ?? ALL_CLIENTS, role }))

/** The grants as one line for the audit log, sorted so that a change shows. */
export const rolesInWords = (grants: Grants): string =>
  entriesOf(grants)
    .map(({ client_id, role }) => `${role} of ${client_id ?? 'all clients'}`)
    .sort()
    .join(', ')

/** What the audit log keeps of a change of roles for one client, with null of those for all clients. */
export interface RoleChange {
  clientId: string | null
  /** In words. */
  before: string
  after: string
}

/** The role for all clients, or that for one client, in words. */
export const roleInWords = ({ all, clients }: Grants, clientId: string | null): string => {
  const role = clientId === null ? all : clients.get(clientId)
  return role == null ? '' : rolesInWords(grantsOfEntries([{ client_id: clientId, role }]))
}

/** One change for each client, as those who see only that client read it, and nothing about others. */
export const roleChanges = (before: Grants, after: Grants): RoleChange[] =>
  [null, ...new Set([...before.clients.keys(), ...after.clients.keys()])]
    .map((clientId) => ({ clientId, before: roleInWords(before, clientId), after: roleInWords(after, clientId) }))
    .filter((change) => change.before !== change.after)

/** The clients whose people and tokens the caller manages; null for all of them. */
export function managedClients({ grants }: Access): Visible {
  if (grants.all === 'owner') return null
  return [...grants.clients.keys()].filter((id) => suffices(roleFor(grants, id), 'owner'))
}

/** The role of a stored text. @throws Error when this program did not write the row */
export function roleOf(text: string): ClientRole {
  const known = CLIENT_ROLES.find((role) => role === text)
  if (known === undefined) throw new Error(`the store holds an unknown role: ${text}`)
  return known
}

/** The roles that people gave each user. Those from groups are separate, and apply only in some sessions. */
export async function grantsByUser(db: Kysely<Tables>, userIds: readonly string[]): Promise<Map<string, Grants>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('user_roles')
    .selectAll()
    .where('user_id', 'in', [...userIds])
    .execute()
  return grantsBy(rows, ({ user_id }) => user_id)
}

/** The roles that each identity's groups gave it at its last sign-in. */
export async function grantsByIdentity(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Grants>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('identity_roles')
    .selectAll()
    .where('identity_id', 'in', [...ids])
    .execute()
  return grantsBy(rows, ({ identity_id }) => identity_id)
}

const grantsBy = <R extends RoleRow>(rows: readonly R[], idOf: (row: R) => string): Map<string, Grants> =>
  new Map(Array.from(Map.groupBy(rows, idOf), ([id, own]) => [id, grantsOf(own)]))

/** Writes only the roles that are higher than before: a role that someone takes away meanwhile stays away. */
export async function addRoles(trx: Transaction<Tables>, userId: string, before: Grants, after: Grants): Promise<void> {
  const had = new Map(rowsOfGrants(before).map(({ client_id, role }) => [client_id, role]))
  const rows = rowsOfGrants(after).filter(({ client_id, role }) => had.get(client_id) !== role)
  if (rows.length === 0) return
  await trx
    .insertInto('user_roles')
    .values(rows.map((row) => ({ user_id: userId, ...row })))
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'client_id']).doUpdateSet(({ ref }) => ({ role: ref('excluded.role') })),
    )
    .execute()
}

/** @param managed replaces only roles for these clients; null for all */
export async function writeRoles(
  trx: Transaction<Tables>,
  userId: string,
  grants: Grants,
  managed: Visible,
): Promise<void> {
  let old = trx.deleteFrom('user_roles').where('user_id', '=', userId)
  if (managed !== null) old = old.where('client_id', 'in', [...managed])
  await old.execute()
  const rows = rowsOfGrants(grants).map((row) => ({ user_id: userId, ...row }))
  if (rows.length > 0) await trx.insertInto('user_roles').values(rows).execute()
}
