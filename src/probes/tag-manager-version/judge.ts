import { duration, HOUR, isoTime, isoTimeOrNull, MINUTE } from '../../lib/index.ts'

/** The result of one part of the check. `details` go into the probe's result under the part's name. */
export interface Part {
  status: 'ok' | 'warning' | 'critical' | 'error'
  message: string
  details: Readonly<Record<string, unknown>>
}

export interface VersionRules {
  /** Null when every version is fine. */
  expected: number | null
  changeTtlHours: number
  /** When people last handled an alert of this probe, epoch ms; null = never. */
  reviewedAt: number | null
}

/** @param what names the container for people, e.g. `Web container GTM-ABC1234` */
export function judgeVersion(what: string, history: VersionHistory, rules: VersionRules, now: number): Part {
  const { containerId, version, since, changes } = history
  const change = changes.at(-1)
  const facts = {
    container_id: containerId,
    version,
    expected_version: rules.expected,
    since: isoTime(since),
    changes: changes.map(({ from, to, at }) => ({ from, to, seen_at: isoTime(at) })).reverse(),
  }
  if (rules.expected !== null) {
    if (version === String(rules.expected)) {
      return { status: 'ok', message: `${what} is at version ${version}, as expected`, details: facts }
    }
    const message = `${what} is at version ${version}, and version ${rules.expected} is expected`
    return { status: 'critical', message, details: { ...facts, reason: 'unexpected_version' } }
  }
  const isReviewed = change !== undefined && rules.reviewedAt !== null && change.at <= rules.reviewedAt
  if (change === undefined || isReviewed || now - change.at >= rules.changeTtlHours * HOUR) {
    const isLong = changes.length > 0 && now - since >= MINUTE
    const message = isLong
      ? `${what} has been at version ${version} for ${duration(now - since)}`
      : `${what} is at version ${version}`
    return { status: 'ok', message, details: facts }
  }
  const clearsAt = isoTime(change.at + rules.changeTtlHours * HOUR)
  if (isRollback(change)) {
    const message = `${what} went back from version ${change.from} to ${change.to}`
    return { status: 'critical', message, details: { ...facts, reason: 'rolled_back', clears_at: clearsAt } }
  }
  const message = `${what} went from version ${change.from} to ${change.to}`
  return { status: 'warning', message, details: { ...facts, reason: 'version_changed', clears_at: clearsAt } }
}

interface CopyFacts {
  /** Version of the copy that the site's own server serves, and of the original. */
  copy: string
  original: string
  /** Since when they differ, epoch ms; null when they are equal. */
  since: number | null
  lagMinutes: number
}

/** A copy may be late: both are cached, and the server checks for a new version only from time to time. */
export function judgeCopy({ copy, original, since, lagMinutes }: CopyFacts, now: number): Part {
  const details = { version: copy, published_version: original, differs_since: isoTimeOrNull(since) }
  if (since === null) return { status: 'ok', message: `The tag server serves version ${copy}`, details }
  const lasts = duration(now - since)
  if (now - since < lagMinutes * MINUTE) {
    const message = `The tag server still serves version ${copy}, where ${original} is published, for ${lasts}`
    return { status: 'ok', message, details }
  }
  const message = `The tag server serves version ${copy} of the web container, where ${original} is published, for ${lasts}: its copy is stale`
  return { status: 'warning', message, details: { ...details, reason: 'stale_copy' } }
}

/** A version that replaced another. */
interface VersionChange {
  from: string
  to: string
  /** When it was first seen, epoch ms. */
  at: number
}

/** What a probe remembers about one container. */
export interface VersionHistory {
  containerId: string
  version: string
  /** Since when this version has been seen, epoch ms. */
  since: number
  /** Latest last. */
  changes: readonly VersionChange[]
}

const KEPT_CHANGES = 10

/** Adds the version just seen. The first version of a container is the one to compare with, so it is no change. */
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

/** Numbers compare as numbers; other versions have no order. */
export const isRollback = ({ from, to }: Pick<VersionChange, 'from' | 'to'>): boolean =>
  /^\d+$/.test(from) && /^\d+$/.test(to) && Number(to) < Number(from)

/** Another version of Tagwarden may have written it; null when it is not usable. */
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
