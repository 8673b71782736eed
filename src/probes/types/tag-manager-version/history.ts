/** A version that took the place of another. */
export interface VersionChange {
  from: string
  to: string
  /** When it was seen, epoch ms. */
  at: number
}

/** What a probe remembers of one container. */
export interface VersionHistory {
  containerId: string
  version: string
  /** Since when this version is seen, epoch ms. */
  since: number
  /** The latest last. */
  changes: readonly VersionChange[]
}

const KEPT_CHANGES = 10

/** The first version seen of a container is what others are compared with; so is one of another container. */
export function withVersion(
  before: VersionHistory | null,
  containerId: string,
  version: string,
  now: number,
): VersionHistory {
  if (before === null || before.containerId !== containerId) return { containerId, version, since: now, changes: [] }
  if (before.version === version) return before
  const change = { from: before.version, to: version, at: now }
  return { containerId, version, since: now, changes: [...before.changes, change].slice(-KEPT_CHANGES) }
}

/** Numbers compare as numbers; what is none went neither up nor down. */
export const isRollback = ({ from, to }: Pick<VersionChange, 'from' | 'to'>): boolean =>
  /^\d+$/.test(from) && /^\d+$/.test(to) && Number(to) < Number(from)

/** As it was left by whatever version of the program; null when it cannot be used. */
export function readHistory(memory: unknown): VersionHistory | null {
  if (typeof memory !== 'object' || memory === null) return null
  const { containerId, version, since, changes } = memory as Record<string, unknown>
  if (typeof containerId !== 'string' || typeof version !== 'string' || typeof since !== 'number') return null
  return { containerId, version, since, changes: Array.isArray(changes) ? changes.filter(isChange) : [] }
}

function isChange(value: unknown): value is VersionChange {
  if (typeof value !== 'object' || value === null) return false
  const { from, to, at } = value as Record<string, unknown>
  return typeof from === 'string' && typeof to === 'string' && typeof at === 'number'
}
