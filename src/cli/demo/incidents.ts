import { Temporal } from 'temporal-polyfill'
import { HOUR, MINUTE } from '../../lib/index.ts'
import type { SiteProfile } from './world/profile.ts'
import { COFFEE, FASHION, FURNITURE, OUTDOOR } from './world/sites.ts'
import { TAGS } from './world/tags.ts'

interface Period {
  site: SiteProfile
  /** Epoch ms; until before `to`. */
  from: number
  to: number
}

/** Something that goes wrong on a site for a while. */
export type Incident =
  | (Period & { kind: 'tag fails'; tag: string; event: string; share: number })
  | (Period & { kind: 'tag does not fire'; tag: string })
  | (Period & { kind: 'transaction ids are lost' })
  | (Period & { kind: 'nothing arrives' })

/** How long the incident under way has lasted when the demo starts. */
const UNDER_WAY_MS = 40 * MINUTE
/** How long the coffee roaster's tag server was away: long enough to be sure of it, where batches come every two minutes and two weeks are not known. */
const AWAY_MS = 3 * HOUR

/** What goes wrong around a demo that starts at `start`: one incident goes on, the others are over. */
export function incidentsAround(start: number): readonly Incident[] {
  const wentAway = localTime(start, COFFEE.timezone, 1, 10)
  return [
    {
      kind: 'tag fails',
      site: OUTDOOR,
      tag: TAGS.metaCapi.name,
      event: 'purchase',
      share: 0.64,
      from: start - UNDER_WAY_MS,
      to: Number.POSITIVE_INFINITY,
    },
    {
      kind: 'transaction ids are lost',
      site: FURNITURE,
      from: localTime(start, FURNITURE.timezone, 3, 13),
      to: localTime(start, FURNITURE.timezone, 3, 18),
    },
    {
      kind: 'tag does not fire',
      site: FASHION,
      tag: TAGS.tiktok.name,
      from: localTime(start, FASHION.timezone, 5, 19),
      to: localTime(start, FASHION.timezone, 5, 21),
    },
    { kind: 'nothing arrives', site: COFFEE, from: wentAway, to: wentAway + AWAY_MS },
  ]
}

/** A full local hour some days before `time`, epoch ms. */
export function localTime(time: number, timezone: string, daysBefore: number, hour: number): number {
  return Temporal.Instant.fromEpochMilliseconds(time)
    .toZonedDateTimeISO(timezone)
    .subtract({ days: daysBefore })
    .withPlainTime({ hour }).epochMilliseconds
}
