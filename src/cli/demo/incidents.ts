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

/** On how many executions Meta's tags fail while that incident is under way. */
const META_FAILS = 0.64
/** How long the incident under way has lasted when the demo starts. */
const UNDER_WAY_MS = 40 * MINUTE
/** How long the coffee roaster's tag server was away: long enough to be sure of it, where batches come every two minutes and two weeks are not known. */
const AWAY_MS = 3 * HOUR

/** What goes wrong around a demo that starts at `start`: one incident lasts, the others are over. */
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

/** On how many executions TikTok answers 4xx while its token is not valid. */
const TIKTOK_REFUSES = 0.85

/** How long each of these lasts: a chart of a day shows it, and each hour more makes the start longer. */
const UNSEEN_MS = 2 * HOUR

/** What no tag's outcome shows: all of them succeed. */
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
 * Meta answers with errors, on sites of both clients. A new version of the outdoor shop's container shortly before looks guilty, until
 * the other sites show the same.
 */
function metaFails(from: number): Incident[] {
  const fault = { kind: 'tag fails', share: META_FAILS, from, to: Number.POSITIVE_INFINITY } as const
  return [
    { ...fault, site: OUTDOOR, tag: TAGS.metaCapi.name, on: 'purchase', isReleased: true },
    { ...fault, site: FURNITURE, tag: TAGS.metaCapiShop.name, on: 'every event', isReleased: false },
    { ...fault, site: FASHION, tag: TAGS.metaCapiShop.name, on: 'every event', isReleased: false },
  ]
}

/** A full local hour some days before `time`, epoch ms. */
function localTime(time: number, timezone: string, daysBefore: number, hour: number): number {
  return Temporal.Instant.fromEpochMilliseconds(time)
    .toZonedDateTimeISO(timezone)
    .subtract({ days: daysBefore })
    .withPlainTime({ hour }).epochMilliseconds
}

/** A new version of a site's web container is published. */
export interface Release {
  site: SiteProfile
  /** Epoch ms. */
  at: number
}

/** Version of a web container that is published at a time; undefined when there is no such container. */
type VersionAt = (containerId: string, time: number) => number | undefined

/** Versions are looked at every 15 minutes: what a release breaks begins when it has surely been seen. */
const SEEN_WITHIN_MS = 20 * MINUTE

/** What is published around a demo that starts at `start`, oldest first: everyday work, what broke something, and what mended it. */
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
  // That was the tag server or the vendor, not what runs in it.
  if (kind === 'nothing arrives' || kind === 'vendor refuses') return []
  if (kind === 'tag fails' && !incident.isReleased) return []
  const breaks = { site, at: from - SEEN_WITHIN_MS }
  return to === Number.POSITIVE_INFINITY ? [breaks] : [breaks, { site, at: to }]
}

/**
 * The versions that go with the releases after `from` (epoch ms). They go on from what an earlier demo published: a number that
 * went back would be a rollback.
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
