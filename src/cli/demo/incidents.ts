import { Temporal } from 'temporal-polyfill'
import { HOUR, MINUTE } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import type { SiteProfile } from './profile.ts'
import type { DemoSite } from './sites.ts'
import { COFFEE, FASHION, FURNITURE, OUTDOOR } from './world.ts'
import { TAGS } from './world-tags.ts'

interface Period {
  site: SiteProfile
  /** Epoch ms; until before `to`. */
  from: number
  to: number
}

/** Something that goes wrong on a site for a while. */
export type Incident =
  | (Period & { kind: 'tag fails'; tag: string; on: string | 'every event'; share: number; isReleased: boolean })
  | (Period & { kind: 'tag does not fire'; tag: string })
  | (Period & { kind: 'vendor refuses'; tag: string; share: number })
  | (Period & { kind: 'consent is not updated' })
  | (Period & { kind: 'purchases come twice' })
  | (Period & { kind: 'transaction ids are lost' })
  | (Period & { kind: 'nothing arrives' })

/** Share of executions on which Meta's tags fail during that incident. */
const META_FAILS = 0.64
/** Age of the current incident when the demo starts. */
const UNDER_WAY_MS = 40 * MINUTE
/**
 * How long the coffee roaster's tag server was down: long enough to be detected with a batch every two minutes and less than two
 * weeks of history.
 */
const AWAY_MS = 3 * HOUR

/** The incidents of a demo that starts at `start`: one is under way, the others are over. */
export function incidentsAround(start: number): readonly Incident[] {
  const wentAway = localTime(start, COFFEE.timezone, 1, 10)
  return [
    ...metaFails(start - UNDER_WAY_MS),
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
    ...ofSignals(start),
  ]
}

/** Share of executions that TikTok answers with 4xx while its token is invalid. */
const TIKTOK_REFUSES = 0.85

/** Duration of each of these: visible in a chart of a day, while every additional hour makes the start slower. */
const UNSEEN_MS = 2 * HOUR

/** Incidents that no tag's outcome shows, because all tags succeed. */
function ofSignals(start: number): Incident[] {
  const [noon, afternoon, morning] = [
    localTime(start, FASHION.timezone, 4, 12),
    localTime(start, OUTDOOR.timezone, 6, 15),
    localTime(start, OUTDOOR.timezone, 3, 9),
  ]
  return [
    { kind: 'consent is not updated', site: FASHION, from: noon, to: noon + UNSEEN_MS },
    { kind: 'purchases come twice', site: OUTDOOR, from: afternoon, to: afternoon + UNSEEN_MS },
    {
      kind: 'vendor refuses',
      site: OUTDOOR,
      tag: TAGS.tiktok.name,
      share: TIKTOK_REFUSES,
      from: morning,
      to: morning + UNSEEN_MS,
    },
  ]
}

/**
 * Meta answers with errors on sites of both clients. A new version of the outdoor shop's container shortly before looks like the cause
 * until other sites show the same.
 */
function metaFails(from: number): Incident[] {
  const fault = { kind: 'tag fails', share: META_FAILS, from, to: Number.POSITIVE_INFINITY } as const
  return [
    { ...fault, site: OUTDOOR, tag: TAGS.metaCapi.name, on: 'purchase', isReleased: true },
    { ...fault, site: FURNITURE, tag: TAGS.metaCapiShop.name, on: 'every event', isReleased: false },
    { ...fault, site: FASHION, tag: TAGS.metaCapiShop.name, on: 'every event', isReleased: false },
  ]
}

/** The full hour `hour` in local time, `daysBefore` days before `time`; epoch ms. */
function localTime(time: number, timezone: string, daysBefore: number, hour: number): number {
  return Temporal.Instant.fromEpochMilliseconds(time)
    .toZonedDateTimeISO(timezone)
    .subtract({ days: daysBefore })
    .withPlainTime({ hour }).epochMilliseconds
}

/** The publication of a new version of a site's web container. */
export interface Release {
  site: SiteProfile
  /** Epoch ms. */
  at: number
}

/** Returns the version of a web container that is live at a time; undefined when there is no such container. */
type VersionAt = (containerId: string, time: number) => number | undefined

/** Time from a release to the incident it causes: probes check versions every 15 minutes and must have seen it by then. */
const SEEN_WITHIN_MS = 20 * MINUTE

/** The releases of a demo that starts at `start`, oldest first: everyday work, releases that broke something, and their fixes. */
export function releasesAround(start: number, incidents: readonly Incident[]): readonly Release[] {
  const everyday = [
    { site: OUTDOOR, at: localTime(start, OUTDOOR.timezone, 16, 10) },
    { site: OUTDOOR, at: localTime(start, OUTDOOR.timezone, 8, 15) },
    { site: FURNITURE, at: localTime(start, FURNITURE.timezone, 12, 11) },
    { site: FASHION, at: localTime(start, FASHION.timezone, 10, 16) },
    { site: COFFEE, at: localTime(start, COFFEE.timezone, 6, 14) },
  ]
  return [...everyday, ...incidents.flatMap(releasesOf)].sort((a, b) => a.at - b.at)
}

function releasesOf(incident: Incident): Release[] {
  const { kind, site, from, to } = incident
  // Caused by the tag server or the vendor, not by a release.
  if (kind === 'nothing arrives' || kind === 'vendor refuses') return []
  if (kind === 'tag fails' && !incident.isReleased) return []
  const breaks = { site, at: from - SEEN_WITHIN_MS }
  return to === Number.POSITIVE_INFINITY ? [breaks] : [breaks, { site, at: to }]
}

/**
 * Numbers the releases after `from` (epoch ms), continuing after the last version of an earlier demo: a lower number would look like
 * a rollback.
 */
export async function versionsFrom(
  store: Store,
  sites: readonly DemoSite[],
  releases: readonly Release[],
  from: number,
): Promise<VersionAt> {
  const sequences = new Map<string, { first: number; times: readonly number[] }>()
  for (const { profile, row } of sites) {
    const times = releases.filter(({ site, at }) => site === profile && at > from).map(({ at }) => at)
    const last = await store.read
      .selectFrom('deploy_markers')
      .select('to_version')
      .where('site_id', '=', row.id)
      .where('source', '=', 'web container')
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst()
    const first = last === undefined ? profile.webVersion - times.length : Number(last.to_version)
    sequences.set(profile.webContainerId, { first, times })
  }
  return (containerId, time) => {
    const sequence = sequences.get(containerId)
    return sequence && sequence.first + sequence.times.filter((at) => at <= time).length
  }
}
