import { counted, DAY, isoTime } from '../../lib/index.ts'
import type { ProbeOutcome } from '../probe-type.ts'

/** A release of the tag server's image (`gcr.io/cloud-tagging-10302018/gtm-cloud-image`). */
interface ImageRelease {
  version: string
  /** The day in the release notes, epoch ms at 00:00 UTC. */
  at: number
  /** The name of a pinned image at hosts; null when the notes give none. */
  digest: string | null
}

const release = (version: string, day: string, digest: string | null = null): ImageRelease => ({
  version,
  at: Date.parse(day),
  digest,
})

/** The day on which this table was last compared with the release notes. */
export const KNOWN_UNTIL = Date.parse('2026-11-25')

/**
 * Every release in the notes, oldest first. Source:
 * https://developers.google.com/tag-platform/tag-manager/server-side/release-notes
 *
 * They list no 4.1.0, and nothing before 1.0.0. For a new release, add a line and move `KNOWN_UNTIL` on.
 */
export const RELEASES: readonly ImageRelease[] = [
  release('1.0.0', '2022-06-13'),
  release('1.1.0', '2022-08-25'),
  release('2.0.0', '2023-03-15'),
  release('2.1.0', '2023-03-16'),
  release('2.2.0', '2023-10-19'),
  release('2.3.0', '2024-02-20'),
  release('2.4.0', '2024-09-26'),
  release('3.0.0', '2025-05-15'),
  release('3.1.0', '2025-06-05'),
  release('3.2.0', '2025-09-02'),
  release('4.0.0', '2025-11-10'),
  release('4.2.0', '2026-02-02', '0f47d39232469cd54cb30c30a8e3b5c17d9bae0e19686ad387624ccabb2a10a7'),
  release('4.3.0', '2026-04-28', 'f04589802ffb44bcff0a367c749ce939c17af895888aef2278adda709def3e88'),
  release('4.4.0', '2026-07-22', '688d35c6c54473be42d5128befa4d98a722d76d6fdf9cb84d63b52a3f223a1e6'),
  release('4.5.0', '2026-10-08', '490cd41aad58406d44853ddc6f2be58c5d9a1d13bc75c8f92fee076891d6ed74'),
]

/** How many releases in between a message names. */
const NAMED = 8
/** The message says that the table is old from this age on; releases came every two to five months. */
const OLD_TABLE_MS = 365 * DAY

/**
 * Judges how far an image is behind the newest release: the days from its own release to that one.
 *
 * A version that the release notes do not list came out between its listed neighbours. It is judged by the newer neighbour,
 * so that a warning is never too early.
 *
 * @param version e.g. `4.2.0`
 * @param maxBehindDays number of days from which on it is a warning
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
  const hint = mayBeMore ? `; this version knows releases until ${dayOf(KNOWN_UNTIL)}: update it to be sure` : ''
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

/** Says when it was released, and what followed. */
function placeOf(own: ImageRelease | null, newer: readonly ImageRelease[], behindDays: number): string {
  const newest = newer.at(-1)
  if (newest === undefined) {
    return own === null ? ', newer than all releases that this version knows' : ` of ${dayOf(own.at)}, the newest`
  }
  const from = own === null ? ', which the release notes do not list, at least' : ` of ${dayOf(own.at)},`
  const between = newer.slice(0, -1).map(({ version }) => version)
  const more = between.length > NAMED ? ` and ${between.length - NAMED} more` : ''
  const named = between.length === 0 ? '' : `; between them came ${between.slice(0, NAMED).join(', ')}${more}`
  return `${from} ${counted(behindDays, 'day')} behind ${newest.version} of ${dayOf(newest.at)}${named}`
}

const dayOf = (time: number): string => isoTime(time).slice(0, 10)

/** Compares numerically: 4.10.0 is newer than 4.9.0. */
function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (const at of [0, 1, 2]) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
