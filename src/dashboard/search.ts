import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type HttpApp, IsoTime, model, NOT_BLANK, nullable, Uuid, type Visible, visibleTo } from '../http/index.ts'
import { type Clock, DAY, firstIdAt, floorTo, isoTime } from '../lib/index.ts'
import { type Kysely, type Store, StoreError, type Tables } from '../store/index.ts'

const SEARCH_KINDS = ['incident', 'alert', 'tag', 'event', 'version', 'annotation'] as const
type SearchKind = (typeof SEARCH_KINDS)[number]

const SearchQuery = Type.Object(
  {
    q: Type.String({
      ...NOT_BLANK,
      minLength: 2,
      maxLength: 100,
      description: 'Part of a name or a title; case is ignored',
    }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, default: 8, description: 'Maximum number of results of each kind' }),
    ),
  },
  { additionalProperties: false },
)
type SearchQuery = Static<typeof SearchQuery>

const Found = Type.Object({
  kind: Type.Enum([...SEARCH_KINDS]),
  id: nullable(Type.String({ description: 'Id of an incident, an alert or an annotation' })),
  label: Type.String({ description: 'The name, title or text' }),
  site_id: nullable(Type.String({ ...Uuid, description: 'Null if it does not belong to a single site' })),
  sites: Type.Integer({
    minimum: 1,
    description: 'For a tag or an event: number of sites that have it; `site_id` is one of them',
  }),
  at: nullable(IsoTime),
})
export type Found = Static<typeof Found>

export const SearchAnswer = model('SearchResults', {
  results: Type.Array(Found, { description: 'Grouped by kind, in the order of the list of kinds' }),
  unread: Type.Array(Type.Enum([...SEARCH_KINDS]), {
    description: 'Kinds that were not searched for lack of time: search for a longer text',
  }),
})
export type SearchAnswer = Static<typeof SearchAnswer>

/** No one who types waits longer, ms. */
const PATIENCE_MS = 2_000
/** Names seen within this time are found. They are kept for three days, but no one looks for what was not sent since yesterday. */
const NAMES_MS = DAY
/** Versions and annotations of the last quarter are found. */
const PAST_MS = 92 * DAY

interface Search {
  db: Kysely<Tables>
  /** The condition that a column contains the text. */
  holds: (column: string) => RawBuilder<SqlBool>
  limit: number
  now: number
  visible: Visible
  /** The condition that a site and its client are active and visible to the caller. */
  isActive: RawBuilder<SqlBool>
}

/** How to read each kind, the most urgent kinds first. */
const READERS: readonly [kind: SearchKind, read: (search: Search) => Promise<Omit<Found, 'kind'>[]>][] = [
  ['incident', incidents],
  ['alert', alerts],
  ['tag', (search) => names(search, 'tag')],
  ['event', (search) => names(search, 'event')],
  ['version', versions],
  ['annotation', annotations],
]

/**
 * Finds tags, events, open incidents and alerts, versions and annotations of active sites by a part of their names. The kinds are
 * read one after the other while there is time; `unread` names the rest.
 *
 * @param patienceMs after this time nothing further is read
 */
export async function search(
  { interactive }: Pick<Store, 'interactive'>,
  visible: Visible,
  { q, limit = 8 }: SearchQuery,
  now: number,
  patienceMs = PATIENCE_MS,
): Promise<SearchAnswer> {
  const endsAt = performance.now() + patienceMs
  const asked: Search = {
    db: interactive,
    holds: holding(q.trim()),
    limit,
    now,
    visible,
    isActive: activeAmong(visible),
  }
  const results: Found[] = []
  const unread: SearchKind[] = []
  for (const [kind, read] of READERS) {
    const found = performance.now() >= endsAt ? null : await read(asked).catch(unlessSlow)
    if (found === null) unread.push(kind)
    else results.push(...found.map((one) => ({ kind, ...one })))
  }
  return { results, unread }
}

/** Returns null when the engine ended a statement that took too long. */
function unlessSlow(thrown: unknown): null {
  if (thrown instanceof StoreError && thrown.kind === 'busy') return null
  throw thrown
}

/** Escapes the wildcards of `LIKE`. */
export const escapedForLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

/** SQLite ignores case of ASCII letters only, so the text is also searched as it was typed. */
function holding(text: string): Search['holds'] {
  const pattern = (part: string) => `%${escapedForLike(part)}%`
  return (column) =>
    sql<SqlBool>`(lower(${sql.ref(column)}) like ${pattern(text.toLowerCase())} escape '\\'
      or ${sql.ref(column)} like ${pattern(text)} escape '\\')`
}

const activeAmong = (visible: Visible): RawBuilder<SqlBool> =>
  sql<SqlBool>`sites.is_active = 1 and clients.is_active = 1 and ${among(visible)}`

const among = (visible: Visible): RawBuilder<SqlBool> =>
  visible === null ? sql<SqlBool>`1 = 1` : sql<SqlBool>`clients.id in (${sql.join([...visible])})`

/** Finds unresolved incidents, the latest first. Those of vendors are found only by callers who see every client. */
async function incidents({ db, holds, limit, visible, isActive }: Search): Promise<Omit<Found, 'kind'>[]> {
  const rows = await db
    .selectFrom('incidents')
    .leftJoin('sites', 'sites.id', 'incidents.site_id')
    .leftJoin('clients', 'clients.id', 'incidents.client_id')
    .select(['incidents.id', 'incidents.title', 'incidents.site_id', 'incidents.started_at'])
    .where(sql<SqlBool>`incidents.state <> 'resolved'`)
    .where(visible === null ? sql<SqlBool>`(incidents.scope = 'vendor' or (${isActive}))` : isActive)
    .where(holds('incidents.title'))
    .orderBy('incidents.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id, title, site_id, started_at }) => of(id, title, site_id, started_at))
}

/** Finds unresolved alerts, the latest first. */
async function alerts({ db, holds, limit, isActive }: Search): Promise<Omit<Found, 'kind'>[]> {
  const rows = await db
    .selectFrom('alerts')
    .innerJoin('sites', 'sites.id', 'alerts.site_id')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['alerts.id', 'alerts.title', 'alerts.site_id', 'alerts.started_at'])
    .where(sql<SqlBool>`alerts.state <> 'resolved'`)
    .where(isActive)
    .where(({ or }) => or([holds('alerts.title'), holds('alerts.subject_label')]))
    .orderBy('alerts.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id, title, site_id, started_at }) => of(id, title, site_id, started_at))
}

/** Finds names that sites sent today or yesterday, those sent by the most sites first. Read by key: a few hundred names per site. */
async function names(
  { db, holds, limit, now, isActive }: Search,
  kind: 'tag' | 'event',
): Promise<Omit<Found, 'kind'>[]> {
  const rows = await db
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .innerJoin('daily_names', 'daily_names.site_no', 'sites.site_no')
    .select(({ fn }) => [
      'daily_names.name',
      fn.count<number>('sites.id').distinct().as('sites'),
      fn.min<string>('sites.id').as('site_id'),
    ])
    .where('daily_names.day', '>=', floorTo(now - NAMES_MS, DAY))
    .where('daily_names.kind', '=', kind)
    .where(isActive)
    .where(holds('daily_names.name'))
    .groupBy('daily_names.name')
    .orderBy('sites', 'desc')
    .orderBy('daily_names.name')
    .limit(limit)
    .execute()
  return rows.map(({ name, sites, site_id }) => ({ ...of(null, name, site_id, null), sites: Number(sites) }))
}

/** Finds published versions, the latest first. */
async function versions({ db, holds, limit, now, isActive }: Search): Promise<Omit<Found, 'kind'>[]> {
  const rows = await db
    .selectFrom('deploy_markers')
    .innerJoin('sites', 'sites.id', 'deploy_markers.site_id')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['deploy_markers.site_id', 'deploy_markers.at', 'source', 'from_version', 'to_version'])
    .where('deploy_markers.id', '>=', firstIdAt(now - PAST_MS))
    .where(isActive)
    .where(({ or }) => or([holds('to_version'), holds('source')]))
    .orderBy('deploy_markers.at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ site_id, at, source, from_version, to_version }) => {
    const change = from_version === null ? to_version : `${from_version} → ${to_version}`
    return of(null, `${source} ${change}`, site_id, at)
  })
}

/** Finds annotations, the latest first. */
async function annotations({ db, holds, limit, now, visible }: Search): Promise<Omit<Found, 'kind'>[]> {
  const rows = await db
    .selectFrom('annotations')
    .leftJoin('sites', 'sites.id', 'annotations.site_id')
    .innerJoin('clients', 'clients.id', 'annotations.client_id')
    .select(['annotations.id', 'annotations.text', 'annotations.site_id', 'annotations.at'])
    .where('annotations.at', '>=', now - PAST_MS)
    .where(sql<SqlBool>`clients.is_active = 1 and (annotations.site_id is null or sites.is_active = 1)`)
    .where(among(visible))
    .where(holds('annotations.text'))
    .orderBy('annotations.at', 'desc')
    .orderBy('annotations.id')
    .limit(limit)
    .execute()
  return rows.map(({ id, text, site_id, at }) => of(id, text, site_id, at))
}

const of = (id: string | null, label: string, site_id: string | null, at: number | null): Omit<Found, 'kind'> => ({
  id,
  label,
  site_id,
  sites: 1,
  at: at === null ? null : isoTime(at),
})

/** Adds the route of the search. */
export function searchRoutes(app: HttpApp, { store, clock }: { store: Store; clock: Clock }): void {
  app.get(
    '/api/search',
    {
      config: { work: 'report', scope: 'visible' },
      schema: {
        tags: ['Dashboard'],
        summary: 'Search by part of a name',
        description:
          'Open incidents and alerts by title, tags and events that were sent today or yesterday, versions and annotations of the last 92 days, ' +
          'of active sites. Characters like `%` have no special meaning. The search stops after 2 s: `unread` names what is missing.',
        querystring: SearchQuery,
        response: { 200: SearchAnswer },
      },
    },
    ({ query, access }) => search(store, visibleTo(access), query, clock.now()),
  )
}
