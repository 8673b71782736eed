import { DAY, isoTime } from '../../lib/index.ts'
import type { ProbeOutcome } from '../probe-type.ts'
import { type ImageRelease, KNOWN_UNTIL, RELEASES } from './releases.ts'

/** Releases between that a message names. */
const NAMED = 8
/** From this age on the table says so: releases came every two to five months. */
const OLD_TABLE_MS = 365 * DAY

/**
 * How far an image is behind the newest release: the days from its own release to that one.
 *
 * A version that the release notes do not list came out after the listed one below it and before the one above: it is judged by the
 * latter, so that a warning is never too early.
 *
 * @param version as `4.2.0`
 * @param maxBehindDays from so many days on it is a warning
 */
export function judgeImage(
  version: string,
  maxBehindDays: number,
  now: number,
): Pick<ProbeOutcome, 'status' | 'message' | 'details'> {
  const out = RELEASES.filter(({ at }) => at <= now)
  const newer = out.filter((release) => isNewer(release.version, version))
  const own = RELEASES.find((release) => release.version === version) ?? null
  const newest = newer.at(-1) ?? null
  const behindDays = newest === null ? 0 : Math.floor((newest.at - (own ?? newer[0] ?? newest).at) / DAY)
  const isBehind = newest !== null && behindDays >= maxBehindDays
  const mayBeMore = !isBehind && now - KNOWN_UNTIL > OLD_TABLE_MS
  const hint = mayBeMore ? `; this program knows releases until ${dayOf(KNOWN_UNTIL)}: update it to be sure` : ''
  return {
    status: isBehind ? 'warning' : 'ok',
    message: `The image is ${version}${placeOf(own, newer, behindDays)}${hint}`,
    details: {
      version,
      released_on: own === null ? null : dayOf(own.at),
      newest: newest?.version ?? out.at(-1)?.version ?? null,
      behind_days: behindDays,
      newer: newer.map((release) => ({ version: release.version, released_on: dayOf(release.at) })),
      known_until: dayOf(KNOWN_UNTIL),
    },
  }
}

/** When it came out, and what came after it. */
function placeOf(own: ImageRelease | null, newer: readonly ImageRelease[], behindDays: number): string {
  const newest = newer.at(-1)
  if (newest === undefined) {
    return own === null ? ', newer than all that this program knows' : ` of ${dayOf(own.at)}, the newest`
  }
  const from = own === null ? ', which the release notes do not list, at least' : ` of ${dayOf(own.at)},`
  const between = newer.slice(0, -1).map(({ version }) => version)
  const more = between.length > NAMED ? ` and ${between.length - NAMED} more` : ''
  const named = between.length === 0 ? '' : `; between them came ${between.slice(0, NAMED).join(', ')}${more}`
  return `${from} ${behindDays} days behind ${newest.version} of ${dayOf(newest.at)}${named}`
}

const dayOf = (time: number): string => isoTime(time).slice(0, 10)

/** Compares numbers, as 4.10.0 is newer than 4.9.0. */
function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (const at of [0, 1, 2]) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
