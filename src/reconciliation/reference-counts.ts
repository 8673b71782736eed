import { AppError, notFound } from '../lib/index.ts'
import { type Context, lockSite, requireSite, writeAudit } from '../management/index.ts'
import {
  chunksOf,
  countOf,
  type Kysely,
  type SiteRow,
  type Store,
  type Tables,
  type Transaction,
  totalOf,
} from '../store/index.ts'
import type { ReferenceCount } from './given-counts.ts'
import type { Pair } from './report.ts'

/** Per site: the shop, the payment provider, an export … */
export const SOURCES_MAX = 10
/** Per source. With a year of hours each, that is as many rows as the telemetry of a small site. */
export const EVENTS_MAX = 20

/** What one request wrote for one source. */
export interface Added {
  source: string
  events: string[]
  hours: number
  /** Start of the first and the last hour, epoch ms. */
  first: number
  last: number
}

/**
 * Writes all counts or none. Existing counts of the same source, event and hour are replaced.
 *
 * @param counts at most one per source, event and hour
 * @throws AppError `not_found`, or `conflict` if the site would have too many sources or events
 */
export async function writeReferenceCounts(
  ctx: Context,
  siteId: string,
  counts: readonly ReferenceCount[],
): Promise<Added[]> {
  const added = addedBySource(counts)
  await ctx.store.write.transaction().execute(async (trx) => {
    await putCounts(trx, siteId, counts, added)
    const entity = { entity: 'reference_counts', id: siteId } as const
    await writeAudit(
      trx,
      ctx,
      added.map(({ source, events, hours }) => ({
        ...entity,
        verb: 'create',
        before: null,
        after: { source, events: events.join(', '), hours },
      })),
    )
  })
  return added
}

/**
 * Writes counts that a probe fetched, all of one source. They are part of the probe's results, so the audit log does not repeat
 * them. Each chunk is a transaction of its own, so that ingest can write in between. A run fetches mostly the hours of the run
 * before: only changed counts are written.
 *
 * @returns how many counts are new or changed
 * @throws AppError as `writeReferenceCounts` does
 */
export async function writeFetchedCounts(
  { write, reports }: Pick<Store, 'write' | 'reports'>,
  { id, site_no }: Pick<SiteRow, 'id' | 'site_no'>,
  counts: readonly ReferenceCount[],
): Promise<number> {
  const [source, ...others] = addedBySource(counts)
  if (source === undefined) return 0
  if (others.length > 0) throw new Error('counts of several sources were fetched')
  const before = await reports
    .selectFrom('reference_counts')
    .select(['event_name', 'bucket', countOf('total').as('total')])
    .where('site_no', '=', site_no)
    .where('source', '=', source.source)
    .where('bucket', '>=', source.first)
    .where('bucket', '<=', source.last)
    .execute()
  const known = new Map(before.map(({ event_name, bucket, total }) => [JSON.stringify([event_name, bucket]), total]))
  const changed = counts.filter(({ event, hour, count }) => known.get(JSON.stringify([event, hour])) !== count)
  for (const part of chunksOf(changed)) {
    await write.transaction().execute((trx) => putCounts(trx, id, part, [source]))
  }
  return changed.length
}

/** @param added summary of the whole write, of which `counts` may be one chunk */
async function putCounts(
  trx: Transaction<Tables>,
  siteId: string,
  counts: readonly ReferenceCount[],
  added: readonly Added[],
): Promise<void> {
  const site = await lockSite(trx, siteId)
  if (site === undefined) throw notFound('Site')
  requireRoom(await pairsOf(trx, site.site_no), added)
  for (const chunk of chunksOf(counts)) {
    await trx
      .insertInto('reference_counts')
      .values(
        chunk.map(({ source, event, hour, count }) => ({
          site_no: site.site_no,
          source,
          event_name: event,
          bucket: hour,
          total: count,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['site_no', 'source', 'event_name', 'bucket'])
          .doUpdateSet(({ ref }) => ({ total: ref('excluded.total') })),
      )
      .execute()
  }
}

const addedBySource = (counts: readonly ReferenceCount[]): Added[] =>
  Array.from(
    Map.groupBy(counts, ({ source }) => source),
    ([source, ofSource]) => addedOf(source, ofSource),
  )

function addedOf(source: string, counts: readonly ReferenceCount[]): Added {
  const hours = counts.map(({ hour }) => hour)
  return {
    source,
    events: [...new Set(counts.map(({ event }) => event))].sort(),
    hours: counts.length,
    first: hours.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    last: hours.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
  }
}

function requireRoom(known: readonly Pair[], added: readonly Added[]): void {
  const all = new Map<string, Set<string>>()
  const given = added.flatMap(({ source, events }) => events.map((event) => ({ source, event })))
  for (const { source, event } of [...known, ...given]) all.set(source, (all.get(source) ?? new Set()).add(event))
  if (all.size > SOURCES_MAX) {
    throw new AppError(
      'conflict',
      `The site would have ${all.size} sources, but ${SOURCES_MAX} are allowed: delete one`,
    )
  }
  for (const { source } of added) {
    const events = all.get(source)?.size ?? 0
    if (events <= EVENTS_MAX) continue
    throw new AppError('conflict', `“${source}” would have ${events} events, but ${EVENTS_MAX} are allowed: send fewer`)
  }
}

/**
 * The sources and events a site has references of. Seeks from one pair to the next by the primary key: grouping would read every
 * row, and one pair may have thousands.
 */
export async function pairsOf(db: Kysely<Tables>, siteNo: number): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let last: Pair | undefined; ; last = pairs.at(-1)) {
    const after = last
    const next = await db
      .selectFrom('reference_counts')
      .select(['source', 'event_name as event'])
      .where('site_no', '=', siteNo)
      .$if(after !== undefined, (rows) =>
        rows.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('source', 'event_name'), '>', tuple(after?.source ?? '', after?.event ?? '')),
        ),
      )
      .orderBy('source')
      .orderBy('event_name')
      .limit(1)
      .executeTakeFirst()
    if (next === undefined) return pairs
    pairs.push(next)
  }
}

/** What a site has for one event of one source. */
export interface ReferenceSeries extends Pair {
  hours: number
  total: number
  /** Start of the first and the last hour, epoch ms. */
  first: number
  last: number
}

/** Ordered by source and event. */
export async function listReferences(db: Kysely<Tables>, siteNo: number): Promise<ReferenceSeries[]> {
  return db
    .selectFrom('reference_counts')
    .select(({ fn }) => [
      'source',
      'event_name as event',
      fn.countAll<number>().as('hours'),
      totalOf('total').as('total'),
      fn.min<number>('bucket').as('first'),
      fn.max<number>('bucket').as('last'),
    ])
    .where('site_no', '=', siteNo)
    .groupBy(['source', 'event_name'])
    .orderBy('source')
    .orderBy('event_name')
    .execute()
}

/** Start of the latest hour with a reference, epoch ms; null without any. */
export async function newestReference(
  db: Kysely<Tables>,
  siteNo: number,
  { source, event }: Pair,
): Promise<number | null> {
  const row = await db
    .selectFrom('reference_counts')
    .select(countOf('bucket').as('bucket'))
    .where('site_no', '=', siteNo)
    .where('source', '=', source)
    .where('event_name', '=', event)
    .orderBy('reference_counts.bucket', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.bucket ?? null
}

/**
 * Deletes all counts of a source, one event per transaction so that ingest can write in between. A crash halfway leaves the
 * counts of whole events, which are still listed and can be deleted again.
 *
 * @throws AppError `not_found` if the site has no such source
 */
export async function deleteSource(ctx: Context, siteId: string, source: string): Promise<void> {
  const { write } = ctx.store
  const site = await requireSite(ctx.store.read, siteId)
  const events = (await pairsOf(ctx.store.read, site.site_no)).filter((pair) => pair.source === source)
  if (events.length === 0) throw notFound('Source')
  const remove = (db: Store['write'], { event }: Pair) =>
    db
      .deleteFrom('reference_counts')
      .where('site_no', '=', site.site_no)
      .where('source', '=', source)
      .where('event_name', '=', event)
      .execute()
  await write.transaction().execute(async (trx) => {
    const names = events.map(({ event }) => event).join(', ')
    await writeAudit(trx, ctx, [
      { entity: 'reference_counts', verb: 'delete', id: siteId, before: { source, events: names }, after: null },
    ])
    for (const pair of events.slice(0, 1)) await remove(trx, pair)
  })
  for (const pair of events.slice(1)) await remove(write, pair)
}
