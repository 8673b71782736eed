/** What a person or a token may do of a client, each more than the one before. */
export const CLIENT_ROLES = ['viewer', 'editor', 'owner'] as const
export type ClientRole = (typeof CLIENT_ROLES)[number]

/** What a caller may do: of every client and of the service itself (`all`), and besides of single clients. */
export interface Grants {
  all: ClientRole | null
  clients: ReadonlyMap<string, ClientRole>
}

/** The clients whose things may be in an answer; null: those of every client, and what belongs to none. */
export type Visible = readonly string[] | null

export const NO_GRANTS: Grants = { all: null, clients: new Map() }
export const grantedForAll = (all: ClientRole): Grants => ({ all, clients: new Map() })

/** Whether a role is enough where `needed` is asked for. */
export const suffices = (role: ClientRole | null, needed: ClientRole): boolean =>
  role !== null && CLIENT_ROLES.indexOf(role) >= CLIENT_ROLES.indexOf(needed)

const higher = (a: ClientRole | null, b: ClientRole | null): ClientRole | null => (b === null || suffices(a, b) ? a : b)

/** The role for a client; for null, what belongs to no client. Null: the caller must not know of it. */
export function roleFor({ all, clients }: Grants, clientId: string | null): ClientRole | null {
  const own = clientId === null ? null : (clients.get(clientId) ?? null)
  return higher(all, own)
}

/** The most that the caller may do of anything. */
export const highestRole = ({ all, clients }: Grants): ClientRole | null => [...clients.values()].reduce(higher, all)

/** The least that the caller may do of anything that is visible. */
export function lowestRole({ all, clients }: Grants): ClientRole | null {
  if (all !== null) return all
  const roles = [...clients.values()]
  return roles.reduce<ClientRole | null>(
    (least, role) => (suffices(role, least ?? role) ? (least ?? role) : role),
    null,
  )
}

export const visibleClients = ({ all, clients }: Grants): Visible => (all === null ? [...clients.keys()] : null)

/** What someone may do who has both: the higher role of each client. */
export function joined(one: Grants, other: Grants): Grants {
  const clients = new Map(one.clients)
  for (const [id, role] of other.clients) clients.set(id, higher(role, clients.get(id) ?? null) ?? role)
  return { all: higher(one.all, other.all), clients }
}

/** What is left of the grants for a request that is about these clients alone. */
export function narrowed(grants: Grants, clientIds: readonly (string | null)[]): Grants {
  // What belongs to no client is nobody's but of those who may see everything.
  if (clientIds.includes(null)) return grants
  const roles = clientIds.flatMap((id) => {
    const role = roleFor(grants, id)
    return id === null || role === null ? [] : [[id, role] as const]
  })
  return { all: null, clients: new Map(roles) }
}
