import { DAY, duration, HOUR } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { sum } from './statistics.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import type { Finding } from './verdict.ts'
import { expectedBetween, type RecentCounts } from './volume-counts.ts'

/**
 * The new event must replace at least this share of the missing ones, give or take one standard deviation (the first visits under the new name may be
 * few), and have at most this multiple of the old one's usual count.
 */
const SUCCESSOR = { least: 0.5, byChance: 0.25, most: 2 } as const

const leastOfSuccessor = (missing: number, { burst }: Bursts): number =>
  Math.max(SUCCESSOR.byChance * missing, SUCCESSOR.least * missing - Math.sqrt(burst * missing))

/** A deploy that renames an event ends one name and begins another: nothing is lost, but people should know. */
export function renamed(
  name: string | null,
  finding: Finding,
  bursts: Bursts,
  { recent, usual }: { recent: RecentCounts; usual: UsualCounts },
): Finding {
  const end = recent.buckets.at(-1)?.to ?? 0
  const last = name === null ? null : lastSeen(name, recent, usual)
  if (last === null) return finding
  const successor = [...recent.events].find(([other, counts]) => {
    const first = other === name ? null : firstSeen(other, recent, usual)
    if (first === null || !followsOn(first, last, usual.of(name))) return false
    const came = sum(counts)
    const expected = (finding.expected ?? 0) - (finding.measured ?? 0)
    const since = Math.max(first, end - DAY)
    const usualSince = (of: string | null) => (usual.of(of).hourly * (end - since)) / HOUR
    // If the site has grown since, all its events have more.
    const all = sum(recent.total.filter((_, index) => (recent.buckets[index]?.from ?? end) >= since))
    const before = usualSince(name) * Math.max(1, all / Math.max(1, usualSince(null)))
    return came >= leastOfSuccessor(expected, bursts) && came <= SUCCESSOR.most * Math.max(expected, before)
  })?.[0]
  if (successor === undefined) return finding
  // Both are known only to their bucket.
  const since = Math.max(last, firstSeen(successor, recent, usual) ?? last)
  return {
    ...finding,
    status: 'ok',
    since: null,
    message: `“${name}” has been arriving as “${successor}” for ${duration(end - since)}`,
    evidence: { ...finding.evidence, kind: 'renamed', successor },
  }
}

/**
 * A rare event, or any at night, may take hours from its last time under the old name to the first under the new one: fewer expected visits are no
 * gap.
 */
const VISITS_BETWEEN = 5

function followsOn(first: number, last: number, own: UsualCount): boolean {
  if (Math.abs(first - last) <= HOUR) return true
  // Both are known to the hour.
  return first > last && expectedBetween(own, { from: last + HOUR, to: first }) <= VISITS_BETWEEN * own.noise.group
}

const firstSeen = (name: string, { buckets, events }: RecentCounts, usual: UsualCounts): number | null =>
  usual.of(name).seen?.from ?? buckets[(events.get(name) ?? []).findIndex((count) => count > 0)]?.from ?? null

const lastSeen = (name: string, { buckets, events }: RecentCounts, usual: UsualCounts): number | null =>
  buckets[(events.get(name) ?? []).findLastIndex((count) => count > 0)]?.from ?? usual.of(name).seen?.to ?? null
