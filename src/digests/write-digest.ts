import { incidentsOfPeriod, type MutedNow, mutedNow } from '../alerts/index.ts'
import { overview, type ReportContext, type WindowReport } from '../analytics/index.ts'
import { readDowntime } from '../cluster/index.ts'
import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { type Digest, lockClient, monthUsage, pausedIn, readPauses } from '../management/index.ts'
import {
  type DigestMessage,
  type DigestMorning,
  type DigestSite,
  enqueue,
  hasDigestReaders,
} from '../notifications/index.ts'
import { chunksOf, type Kysely, type SiteRow, type Store, type Tables } from '../store/index.ts'
import { Changes, changeInWords, versionInWords, versionsIn, weeksOf } from '../today/index.ts'

export type DigestKind = Exclude<Digest, 'off'>

/** Half-open, epoch ms. */
interface Period {
  from: number
  to: number
}

/** Where a digest is read from and written to. */
export interface DigestContext extends ReportContext {
  store: Store
}

/** A period that is over, and the one it is compared with. */
export interface DuePeriod extends Period {
  /** When its digest was due. */
  dueAt: number
  before: Period
}

/** A digest to be written. */
export interface DueDigest {
  clientId: string
  kind: DigestKind
  timezone: string
  period: DuePeriod
}

/** A later digest is not sent: a morning's digest is of no use in the evening, nor are several at once after days of downtime. */
const TOO_LATE_MS = 12 * HOUR

/**
 * Periods whose ends are closer than this are the same period in two time zones: the client's zone is that of its oldest site,
 * and changes with it.
 */
export const SAME_MS = 12 * HOUR

type Content = Pick<DigestMessage, 'sites' | 'incidents' | 'counts' | 'down' | 'unwatched' | 'morning'>

/**
 * Puts a digest into the outbox and records it as done, in one transaction: exactly one is sent, however many nodes try and
 * whenever one crashes. A digest that is too late, or covers a time before the client had a site, is only recorded.
 */
export async function writeDigest(context: DigestContext, due: DueDigest): Promise<void> {
  const { store, clock } = context
  const { clientId, kind, timezone, period } = due
  const content = clock.now() - period.dueAt < TOO_LATE_MS ? await contentOf(context, due) : null
  await store.write.transaction().execute(async (trx) => {
    const now = clock.now()
    const client = await lockClient(trx, clientId)
    if (client?.is_active !== 1 || client.email === null || client.digest === 'off') return
    const done = await trx
      .selectFrom('digests')
      .select('period_end')
      .where('client_id', '=', clientId)
      .where('period_end', '>', period.to - SAME_MS)
      .where('period_end', '<', period.to + SAME_MS)
      .executeTakeFirst()
    if (done !== undefined) return
    await trx.insertInto('digests').values({ client_id: clientId, period_end: period.to, written_at: now }).execute()
    if (content === null || !(await hasDigestReaders(trx, client.id, client.email))) return
    const message: DigestMessage = {
      kind: 'digest',
      client: { id: client.id, name: client.name },
      period: kind,
      from: period.from,
      to: period.to,
      timezone,
      ...content,
    }
    const channel = { key: `email:${client.id}`, address: client.email } as const
    await enqueue(trx, [{ channel, clientId, alertId: null, message }], now)
  })
}

/** Null if none of the client's active sites existed in the period. */
async function contentOf(context: DigestContext, due: DueDigest): Promise<Content | null> {
  const { clientId, period } = due
  const sites = await context.store.read
    .selectFrom('sites')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('is_active', '=', 1)
    .where('created_at', '<', period.to)
    .orderBy('created_at')
    .orderBy('site_no')
    .execute()
  if (sites.length === 0) return null
  const { read } = context.store
  const down = await readDowntime(read, period.from, period.to)
  const downBefore = await readDowntime(read, period.before.from, period.before.to)
  const digests: Content['sites'][number][] = []
  for (const site of sites) {
    const digest = await siteDigest(context, site, period)
    const pauses = await readPauses(read, site, period.before.from, period.to)
    const missed = Math.max(down + pausedIn(pauses, period), downBefore + pausedIn(pauses, period.before))
    const isCounted = missed <= MOST_DOWN * (period.to - period.from)
    digests.push(isCounted ? digest : { ...digest, events_before: null })
  }
  return {
    sites: digests,
    ...(await incidentsOfPeriod(read, clientId, period)),
    down,
    unwatched: sites.length - (await watchedCount(read, sites)),
    morning: await morningOf(context, due, sites),
  }
}

/** How many of the sites have an active probe. */
async function watchedCount(read: Kysely<Tables>, sites: readonly SiteRow[]): Promise<number> {
  let watched = 0
  for (const chunk of chunksOf(sites.map(({ id }) => id))) {
    const { count } = await read
      .selectFrom('probes')
      .select(({ fn }) => fn.count<number>('site_id').distinct().as('count'))
      .where('site_id', 'in', chunk)
      .where('is_active', '=', 1)
      .executeTakeFirstOrThrow()
    watched += Number(count)
  }
  return watched
}

/** With fewer executions the success rate varies too much by chance. */
const MIN_EXECUTIONS = 50
/** The smallest drop of a success rate worth reporting, 0–1. */
const MIN_DROP = 0.01
const MOST_TAGS = 5
/**
 * The most downtime of Tagwarden and pauses of the site with which counts are compared, as a share of the period (0–1): beyond it
 * a change says more about them than about the site.
 */
const MOST_DOWN = 0.02

/** A site's counts in the period, compared with the one before. */
async function siteDigest(context: ReportContext, site: SiteRow, period: DuePeriod): Promise<DigestSite> {
  const earliest = floorTo(context.clock.now(), DAY) - context.retention.hourDays * DAY
  // Where counts are kept for only a week, those of the first hours of the past week are deleted by now.
  const report = await overview(context, site, { from: Math.max(period.from, earliest), to: period.to })
  // A site that was set up during the period before has no whole period to compare with.
  const isComparable = period.before.from >= Math.max(earliest, site.created_at)
  const before = isComparable ? await overview(context, site, period.before) : null
  return {
    id: site.id,
    name: site.name,
    events: report.total_events,
    events_before: before?.total_events ?? null,
    score: report.score.overall,
    score_before: before?.score.overall ?? null,
    worse_tags: before === null ? [] : worseTags(report.tags, before.tags),
  }
}

type Tag = Pick<WindowReport['tags'][number], 'tag_key' | 'executions' | 'success_rate'>

/** The tags that ran often enough in both periods and succeed less often now, greatest drop first. */
export function worseTags(tags: readonly Tag[], before: readonly Tag[]): DigestSite['worse_tags'] {
  const earlier = ratesOf(before)
  return [...ratesOf(tags)]
    .flatMap(([tag_key, success_rate]) => {
      const success_rate_before = earlier.get(tag_key)
      return success_rate_before === undefined ? [] : [{ tag_key, success_rate, success_rate_before }]
    })
    .filter((tag) => lossOf(tag) >= MIN_DROP)
    .sort((a, b) => lossOf(b) - lossOf(a) || (a.tag_key < b.tag_key ? -1 : 1))
    .slice(0, MOST_TAGS)
}

const ratesOf = (tags: readonly Tag[]): Map<string, number> =>
  new Map(
    tags.flatMap(({ tag_key, executions, success_rate }): [string, number][] =>
      success_rate === null || executions < MIN_EXECUTIONS ? [] : [[tag_key, success_rate]],
    ),
  )

/** Rounded, as 0.99 − 0.98 is a little less than 0.01 in binary. */
const lossOf = ({ success_rate, success_rate_before }: DigestSite['worse_tags'][number]): number =>
  Math.round(1e9 * (success_rate_before - success_rate)) / 1e9

/** No one reads more of them in an e-mail. */
const MOST_CHANGES = 10

/**
 * What the morning page shows about a client, for its digest, limited to the period reported on. The changes against the week
 * before are those of one day, so a weekly digest has none.
 *
 * @param sites the ones the digest covers
 */
async function morningOf(
  context: DigestContext,
  { clientId, kind, timezone, period }: DueDigest,
  sites: readonly SiteRow[],
): Promise<DigestMorning> {
  const { read } = context.store
  const now = context.clock.now()
  const names = new Map(sites.map(({ id, name }) => [id, name]))
  const numbers = new Map(sites.map(({ site_no, name }) => [site_no, name]))
  const found =
    kind === 'daily' ? await new Changes(context).of(sites, weeksOf(period, timezone)) : { entries: [], leftOut: 0 }
  const versions = await versionsIn(read, [...names.keys()], period)
  const usage = await monthUsage(read, clientId, now)
  return {
    changes: found.entries.slice(0, MOST_CHANGES).map((change) => ({
      site: numbers.get(change.siteNo) ?? '',
      text: changeInWords(change),
    })),
    hours_left_out: found.leftOut,
    versions: versions.map(({ site_id, at, ...version }) => ({
      site: names.get(site_id) ?? '',
      text: versionInWords(version),
      at,
    })),
    quota: usage === null || usage.level === 'ok' ? null : { events: usage.events, limit: usage.limit },
    muted: await mutedIn(read, await mutedNow(context.store, [clientId], sites, now), names),
  }
}

/** Silences and maintenance, each with what it covers. */
async function mutedIn(
  read: Kysely<Tables>,
  muted: readonly MutedNow[],
  sites: ReadonlyMap<string, string>,
): Promise<DigestMorning['muted']> {
  const probes = new Map<string, string>()
  for (const chunk of chunksOf(muted.flatMap(({ probe_id }) => probe_id ?? []))) {
    const rows = await read.selectFrom('probes').select(['id', 'name', 'site_id']).where('id', 'in', chunk).execute()
    for (const { id, name, site_id } of rows) probes.set(id, `${name} of ${sites.get(site_id) ?? 'a site'}`)
  }
  return muted.map(({ kind, site_id, probe_id, incident_id, subject_label, why, ends_at, until_resolved }) => {
    const ofWhole = incident_id === null ? 'all sites' : 'an incident'
    const of = probe_id === null ? (sites.get(site_id ?? '') ?? ofWhole) : (probes.get(probe_id) ?? 'a probe')
    return {
      kind,
      of: subject_label === null ? of : `${of}: ${subject_label}`,
      why,
      ends_at: until_resolved ? null : Date.parse(ends_at),
    }
  })
}
