import { momentOf, wallTime } from './zone.ts'

/** The moment of a local time, which is `known` where that has it: in the hour that comes twice, an hour from now has the local time of now. */
export const momentLike = (known: number, wall: string, zone: string): number | null =>
  wallTime(known, zone) === wall ? known : momentOf(wall, zone)

/** By how much clocks change: an hour, on Lord Howe Island half of one. */
const CHANGES = [3_600_000, 1_800_000]

/**
 * The zone of a `datetime-local` field, and which moment its value means where the clocks change: a local time then comes twice or not at
 * all.
 *
 * @param at what the value counts as
 */
export function zoneHint(wall: string, zone: string, at = momentOf(wall, zone)): string {
  if (at === null) return zone
  const time = wall.slice(11, 16)
  const meant = wallTime(at, zone)
  if (meant !== wall.slice(0, 16)) return `${zone} · clocks skip ${time} that day: ${meant.slice(11)} counts`
  const isAlso = (moment: number) => wallTime(moment, zone) === meant
  if (CHANGES.some((change) => isAlso(at + change))) return `${zone} · ${time} comes twice that day: the first counts`
  if (CHANGES.some((change) => isAlso(at - change))) return `${zone} · ${time} comes twice that day: the second counts`
  return zone
}
