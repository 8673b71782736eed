import { duration, fieldsOf, isoTime, MINUTE } from '../../lib/index.ts'
import type { DeployMarker, JsonObject, ProbeOutcome } from '../probe-type.ts'

/** A version that sent something. Times are epoch ms. */
export interface SeenVersion {
  readonly container_id: string
  readonly version: string
  readonly environment: string
  readonly first_seen_at: number
  readonly last_seen_at: number
}

/** A version that has sent nothing for so long no longer runs. */
export const FRESH_MS = 15 * MINUTE

/** Version by container and environment, and since when several run beside each other, epoch ms. */
interface Memory {
  current: Readonly<Record<string, string>>
  mixedSince: Readonly<Record<string, number>>
}

/**
 * Which version each container runs, what changed since the last run, and whether instances lag behind. How long they do is counted from
 * when it was seen, not from when the version came: after a rollback the newer version is the older news.
 */
export function judgeVersions(
  rows: readonly SeenVersion[],
  before: JsonObject,
  lagMinutes: number,
  now: number,
): ProbeOutcome {
  const known = memoryOf(before)
  const lines = Map.groupBy(rows, lineOf)
  // Of what no row names any more nothing is known: a sender could name other environments each day.
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
    if (last !== undefined && last !== newest.version) deployMarkers.push(markerOf(newest, last, known, now))
    current[line] = newest.version
    const names = older.map(({ version }) => version)
    containers.push({
      container_id: newest.container_id,
      environment: newest.environment,
      version: newest.version,
      first_seen_at: isoTime(newest.first_seen_at),
      also_running: names,
    })
    if (older.length === 0) continue
    const since = known.mixedSince[line] ?? now
    mixedSince[line] = since
    if (now - since < lagMinutes * MINUTE) continue
    startedAt = Math.min(startedAt, since)
    lagging.push(
      `Version ${names.join(', ')} of ${line} still sends events, ${duration(now - since)} after version ${newest.version} appeared`,
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
    return { status: 'ok', reason: 'no_data', message: 'No event has come in the last 15 minutes', details, memory }
  }
  if (lagging.length > 0) {
    return { status: 'warning', message: lagging.join('; '), details, memory, deployMarkers, startedAt }
  }
  const running = containers.map(({ container_id, version }) => `${String(container_id)} at version ${String(version)}`)
  return { status: 'ok', message: running.join(', '), details, memory, deployMarkers }
}

const isLive = (environment: string): boolean => environment === '' || environment.toLowerCase() === 'live'

/** A container, and its environment where that is not the one that visitors meet. */
const lineOf = ({ container_id, environment }: SeenVersion): string =>
  isLive(environment) ? container_id : `${container_id} (${environment})`

/** What is back was first seen long ago: then it changed when it was seen. */
function markerOf(
  { version, environment, first_seen_at }: SeenVersion,
  from: string,
  known: Memory,
  now: number,
): DeployMarker {
  const wasKnown = first_seen_at < now - 2 * FRESH_MS && Object.keys(known.current).length > 0
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
