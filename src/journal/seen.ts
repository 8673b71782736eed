import type { Cell } from './delta.ts'

/** Times of acceptance, epoch ms. */
interface Seen {
  firstSeenAt: number
  lastSeenAt: number
}

/** A version of a container that sent something. */
export interface VersionSeen extends Seen {
  version: string
  environment: string
}

/** A client of a container that claimed events. */
export interface ClientSeen extends Seen {
  name: string
}

export function seeVersion(cell: Cell, seen: VersionSeen): void {
  cell.versions ??= new Map()
  see(cell.versions, `${seen.version}\0${seen.environment}`, seen)
}

export function seeClient(cell: Cell, seen: ClientSeen): void {
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
export function absorbSeen(ours: Cell, { versions, clients }: Cell): void {
  if (versions !== undefined) for (const seen of versions.values()) seeVersion(ours, seen)
  if (clients !== undefined) for (const seen of clients.values()) seeClient(ours, seen)
}
