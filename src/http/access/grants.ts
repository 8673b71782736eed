/** Roles of a person or a token for a client, each including the previous ones. */
export const CLIENT_ROLES = ['viewer', 'editor', 'owner'] as const
export type ClientRole = (typeof CLIENT_ROLES)[number]

/** A caller's roles: `all` for every client and for the service itself, plus those for single clients. */
export interface Grants {
  all: ClientRole | null
  clients: ReadonlyMap<string, ClientRole>
}

/** The clients that an answer may cover; null for every client, and what belongs to none. */
export type Visible = readonly string[] | null

export const NO_GRANTS: Grants = { all: null, clients: new Map() }
export const grantedForAll = (all: ClientRole): Grants => ({ all, clients: new Map() })

/** Whether a role includes the needed one. */
export const suffices = (role: ClientRole | null, needed: ClientRole): boolean =>
  role !== null && CLIENT_ROLES.indexOf(role) >= CLIENT_ROLES.indexOf(needed)

const higher = (a: ClientRole | null, b: ClientRole | null): ClientRole | null => (b === null || suffices(a, b) ? a : b)

/** The role for a client, or with a null id for what belongs to no client. Returns null when the caller must not know about it. */
export function roleFor({ all, clients }: Grants, clientId: string | null): ClientRole | null {
  const own = clientId === null ? null : (clients.get(clientId) ?? null)
  return higher(all, own)
}

/** The caller's highest role for anything. */
export const highestRole = ({ all, clients }: Grants): ClientRole | null => [...clients.values()].reduce(higher, all)

/** The caller's lowest role for anything that they see. */
export function lowestRole({ all, clients }: Grants): ClientRole | null {
  if (all !== null) return all
  const roles = [...clients.values()]
  return roles.reduce<ClientRole | null>(
    (least, role) => (suffices(role, least ?? role) ? (least ?? role) : role),
    null,
  )
}

export const visibleClients = ({ all, clients }: Grants): Visible => (all === null ? [...clients.keys()] : null)

/** The combined grants: the higher role for each client. */
export function joined(one: Grants, other: Grants): Grants {
  const clients = new Map(one.clients)
  for (const [id, role] of other.clients) clients.set(id, higher(role, clients.get(id) ?? null) ?? role)
  return { all: higher(one.all, other.all), clients }
}

/** The grants for a request that concerns only these clients. */
export function narrowed(grants: Grants, clientIds: readonly (string | null)[]): Grants {
  // What belongs to no client needs a role for all, so nothing is narrowed.
  if (clientIds.includes(null)) return grants
  const roles = clientIds.flatMap((id) => {
    const role = roleFor(grants, id)
    return id === null || role === null ? [] : [[id, role] as const]
  })
  return { all: null, clients: new Map(roles) }
}
