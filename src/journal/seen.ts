/** Times of acceptance, epoch ms. */
interface Seen {
  firstSeenAt: number
  lastSeenAt: number
}

/** A container version that sent something. */
export interface VersionSeen extends Seen {
  version: string
  environment: string
}

/** A client of a container that claimed events. */
export interface ClientSeen extends Seen {
  name: string
}

/** The versions and clients behind a cell's counts; undefined when no sender named one. */
export interface SeenOnes {
  versions: Map<string, VersionSeen> | undefined
  clients: Map<string, ClientSeen> | undefined
}

export function seeVersion(cell: SeenOnes, seen: VersionSeen): void {
  cell.versions ??= new Map()
  see(cell.versions, `${seen.version}\0${seen.environment}`, seen)
}

export function seeClient(cell: SeenOnes, seen: ClientSeen): void {
  cell.clients ??= new Map()
  see(cell.clients, seen.name, seen)
}

function see<T extends Seen>(all: Map<string, T>, key: string, seen: T): void {
  const known = all.get(key)
  if (known === undefined) {
    all.set(key, { ...seen })
    return
  }
  known.firstSeenAt = Math.min(known.firstSeenAt, seen.firstSeenAt)
  known.lastSeenAt = Math.max(known.lastSeenAt, seen.lastSeenAt)
}

/** Adds the versions and clients of `theirs` to `ours`. */
export function absorbSeen(ours: SeenOnes, { versions, clients }: SeenOnes): void {
  if (versions !== undefined) for (const seen of versions.values()) seeVersion(ours, seen)
  if (clients !== undefined) for (const seen of clients.values()) seeClient(ours, seen)
}
