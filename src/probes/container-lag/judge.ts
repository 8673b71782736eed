import { duration, fieldsOf, isoTime, MINUTE } from '../../lib/index.ts'
import type { DeployMarker, JsonObject, ProbeOutcome } from '../probe-type.ts'

/** A version that sent events. Times are epoch ms. */
export interface SeenVersion {
  readonly container_id: string
  readonly version: string
  readonly environment: string
  readonly first_seen_at: number
  readonly last_seen_at: number
}

/** A version that has sent nothing for this long no longer runs. */
export const FRESH_MS = 15 * MINUTE

/** The version by container and environment, and since when each older version that still runs was seen beside a newer one, epoch ms. */
interface Memory {
  current: Readonly<Record<string, string>>
  mixedSince: Readonly<Record<string, number>>
}

/**
 * Judges which version each container runs, what changed since the last run, and whether instances lag behind. The lag counts from when
 * two versions were first seen together, not from when a version appeared: after a rollback, the newer version appeared earlier. Each
 * older version counts for itself, or releases in quick succession would look like one that lags.
 */
export function judgeVersions(
  rows: readonly SeenVersion[],
  before: JsonObject,
  lagMinutes: number,
  now: number,
): ProbeOutcome {
  const known = memoryOf(before)
  const lines = Map.groupBy(rows, lineOf)
  // Forgets versions that no row names any more: a sender could name new environments every day.
  const current = Object.fromEntries(Object.entries(known.current).filter(([line]) => lines.has(line)))
  const mixedSince: Record<string, number> = {}
  const deployMarkers: DeployMarker[] = []
  const containers: Record<string, unknown>[] = []
  const lagging: string[] = []
  let startedAt = now
  for (const [line, ofLine] of lines) {
    const running = ofLine.filter(({ last_seen_at }) => last_seen_at > now - FRESH_MS)
    const [newest, ...older] = running.toSorted((a, b) => b.first_seen_at - a.first_seen_at)
    if (newest === undefined) continue
    const last = known.current[line]
    if (last !== undefined && last !== newest.version) deployMarkers.push(markerOf(newest, last, now))
    current[line] = newest.version
    const names = older.map(({ version }) => version)
    containers.push({
      container_id: newest.container_id,
      environment: newest.environment,
      version: newest.version,
      first_seen_at: isoTime(newest.first_seen_at),
      also_running: names,
    })
    const keyOf = (version: string) => `${line} ${version}`
    // Earlier versions kept one time for the whole line.
    const sinceOf = (version: string) => known.mixedSince[keyOf(version)] ?? known.mixedSince[line] ?? now
    for (const version of names) mixedSince[keyOf(version)] = sinceOf(version)
    const late = names.filter((version) => now - sinceOf(version) >= lagMinutes * MINUTE)
    if (late.length === 0) continue
    const since = Math.min(...late.map(sinceOf))
    startedAt = Math.min(startedAt, since)
    const [versions, send] = late.length === 1 ? ['Version', 'sends'] : ['Versions', 'send']
    lagging.push(
      `${versions} ${late.join(', ')} of ${line} still ${send} events, ${duration(now - since)} after a newer one appeared; the newest is ${newest.version}`,
    )
  }
  const memory = { current, mixedSince }
  const details = { containers }
  if (rows.length === 0) {
    const message =
      "No event has reported which version of the container it ran on; if events come, update the tag's template"
    return { status: 'ok', reason: 'no_data', message, details, memory }
  }
  if (containers.length === 0) {
    return { status: 'ok', reason: 'no_data', message: 'No event has arrived in the last 15 minutes', details, memory }
  }
  if (lagging.length > 0) {
    return { status: 'warning', message: lagging.join('; '), details, memory, deployMarkers, startedAt }
  }
  const running = containers.map(({ container_id, version }) => `${String(container_id)} at version ${String(version)}`)
  return { status: 'ok', message: running.join(', '), details, memory, deployMarkers }
}

const isLive = (environment: string): boolean => environment === '' || environment.toLowerCase() === 'live'

/** The container, and its environment if that is not the live one. */
const lineOf = ({ container_id, environment }: SeenVersion): string =>
  isLive(environment) ? container_id : `${container_id} (${environment})`

/** A version that returns was first seen long ago, so its change is dated now instead. */
function markerOf({ version, environment, first_seen_at }: SeenVersion, from: string, now: number): DeployMarker {
  const wasKnown = first_seen_at < now - 2 * FRESH_MS
  return {
    source: isLive(environment) ? 'server container' : `server container (${environment})`,
    fromVersion: from,
    toVersion: version,
    ...(wasKnown ? {} : { at: first_seen_at }),
    details: { seen_by: 'events' },
  }
}

function memoryOf({ current, mixedSince }: JsonObject): Memory {
  const texts = Object.entries(fieldsOf(current)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const times = Object.entries(fieldsOf(mixedSince)).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  return { current: Object.fromEntries(texts), mixedSince: Object.fromEntries(times) }
}
