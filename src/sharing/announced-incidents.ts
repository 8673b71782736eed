import { sql } from 'kysely'
import { LATE_MS, withoutParts } from '../alerts/index.ts'
import { type Clock, DAY, SECOND } from '../lib/index.ts'
import {
  type AnnouncedIncidentRow,
  chunksOf,
  type Kysely,
  type Store,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import { namedSites, shownIncidents, type Turn as TimelineTurn, turnsOf } from './history.ts'
import { isNews, type StatusChange } from './subscription-mails.ts'

/**
 * An incident is announced when a page has shown it for this time, ms: one that another incident explains becomes part of that one
 * within seconds.
 */
const SETTLED_MS = 15 * SECOND
/** What has ended is kept for this time, ms, which is longer than an e-mail about it waits. */
const KEPT_MS = 2 * DAY
/** Kept of an incident that ends and is back again and again: the newest. */
const MOST_TURNS = 50

/** An incident opened, ended or was back. Times are epoch ms. */
export type Turn = Pick<StatusChange, 'kind' | 'at' | 'saidAt'>

/** An incident as the page shows it. Times are epoch ms. */
export interface Shown {
  id: string
  siteId: string
  title: string
  startedAt: number
  shownAt: number
  resolvedAt: number | null
  /** When it was back, if it had ended. */
  backAt: number | null
  /** No other incident speaks for it. */
  isAlone: boolean
}

/** A row of `announced_incidents`. */
export interface Announced extends Pick<AnnouncedIncidentRow, 'id' | 'site_id' | 'title'> {
  turns: readonly Turn[]
}

/**
 * Compares incidents with what was announced of them.
 *
 * @param ends of announced incidents that are not shown (any more): when they ended, or null while they last
 * @param at of the changes, epoch ms
 * @returns what is to be announced: the incidents that changed, each with one more turn
 */
export function announcementsOf(
  known: readonly Announced[],
  shown: readonly Shown[],
  ends: ReadonlyMap<string, number | null>,
  at: number,
): Announced[] {
  const pages = new Map(shown.map((incident) => [incident.id, incident]))
  const changed = known.flatMap((row): Announced[] => {
    const incident = pages.get(row.id)
    const lasts = row.turns.at(-1)?.kind !== 'resolved'
    const end = incident === undefined ? ends.get(row.id) : incident.resolvedAt
    // It is deleted, as its site or probe is.
    if (end === undefined) return []
    const title = incident?.title ?? row.title
    if (lasts && end !== null) return [withTurn({ ...row, title }, { kind: 'resolved', at, saidAt: Math.min(end, at) })]
    if (lasts || end !== null || incident?.isAlone !== true) return []
    return [withTurn({ ...row, title }, { kind: 'back', at, saidAt: incident.backAt ?? at })]
  })
  const isKnown = new Set(known.map(({ id }) => id))
  const opened = shown.filter(
    ({ id, isAlone, resolvedAt, shownAt }) =>
      !isKnown.has(id) && isAlone && resolvedAt === null && shownAt <= at - SETTLED_MS,
  )
  return [
    ...changed,
    ...opened.map(({ id, siteId, title, startedAt }) => ({
      id,
      site_id: siteId,
      title,
      turns: [{ kind: 'opened' as const, at, saidAt: startedAt }],
    })),
  ]
}

const withTurn = (row: Announced, turn: Turn): Announced => ({
  ...row,
  turns: [...row.turns, turn].slice(-MOST_TURNS),
})

/**
 * Records how the incidents that status pages show differ from what their subscribers know. Comparing states rather than following
 * events says of each what the page says: which alert speaks for an incident, when it is shown and what it belongs to change afterwards.
 */
export async function announceIncidents({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const since = clock.now() - DAY
  const clients = await store.read
    .selectFrom('clients')
    .select('clients.id')
    .where('clients.is_active', '=', 1)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('status_subscribers')
          .innerJoin('status_links', 'status_links.token', 'status_subscribers.token')
          .select('status_subscribers.id')
          .whereRef('status_subscribers.client_id', '=', 'clients.id'),
      ),
    )
    // Most pages show nothing: they cost no more than this statement. Each part of it has an index.
    .where(
      sql<boolean>`clients.id in (select client_id from incidents where state <> 'resolved'
        union select client_id from incidents where resolved_at >= ${since}
        union select client_id from announced_incidents)`,
    )
    .orderBy('clients.id')
    .execute()
  for (const { id } of clients) await announceOf(store, clock, id)
}

async function announceOf(store: Store, clock: Clock, clientId: string): Promise<void> {
  const rows = await rowsOf(store.read, clientId)
  const known = rows.map((row) => ({ ...row, turns: turnsIn(row) }))
  const shown = await readShown(store.read, clientId, clock.now())
  const pages = new Set(shown.map(({ id }) => id))
  const gone = known.filter(({ id, turns }) => !pages.has(id) && turns.at(-1)?.kind !== 'resolved')
  const ends = await endsOf(store.read, gone)
  const changes = announcementsOf(known, shown, ends, clock.now())
  if (changes.length === 0) return
  const before = new Map(rows.map(({ id, changed_at }) => [id, changed_at]))
  await store.write.transaction().execute(async (trx) => {
    const at = await timeAfterAll(trx, clientId, clock.now())
    for (const { id, site_id, title, turns } of changes) {
      const stamped = turns.map((turn, n) => (n === turns.length - 1 ? { ...turn, at } : turn))
      const row = { id, client_id: clientId, site_id, title, turns: JSON.stringify(stamped), changed_at: at }
      await write(trx, row, before.get(id))
    }
  })
}

/**
 * Returns when to announce a change: later than what any subscriber may have been sent before, whichever node's clock wrote that, and also when
 * the clock was set back since.
 */
export async function timeAfterAll(db: Kysely<Tables>, clientId: string, now: number): Promise<number> {
  let latest = now
  for (const table of ['announced_incidents', 'announced_maintenance'] as const) {
    const row = await db
      .selectFrom(table)
      .select(({ fn }) => fn.max('changed_at').as('at'))
      .where('client_id', '=', clientId)
      .executeTakeFirst()
    latest = Math.max(latest, Number(row?.at ?? 0) + 1)
  }
  return latest
}

/** Including those of paused sites: pausing a site ends its incidents, and subscribers who were e-mailed about one have to learn that. */
async function readShown(db: Kysely<Tables>, clientId: string, now: number): Promise<Shown[]> {
  const shown = await shownIncidents(db, clientId, await namedSites(db, clientId), now - DAY)
  const alone = new Set(withoutParts(shown, shown).map(({ id }) => id))
  const ends = new Map(shown.map(({ id, resolved_at }) => [id, resolved_at]))
  // An incident that outlasts its cause by this time is another problem, and news.
  const isLate = (parentId: string | null) => {
    const end = ends.get(parentId ?? '') ?? null
    return end === null || Date.parse(end) + LATE_MS <= now
  }
  const turns = await turnsOf(db, shown)
  return shown.map(({ id, site_id, parent_id, title, started_at, resolved_at, shownAt }) => ({
    id,
    siteId: site_id,
    title,
    startedAt: Date.parse(started_at),
    shownAt,
    resolvedAt: resolved_at === null ? null : Date.parse(resolved_at),
    backAt: turns.get(id)?.findLast(isBack)?.saidAt ?? null,
    isAlone: alone.has(id) && isLate(parent_id),
  }))
}

const isBack = ({ kind }: TimelineTurn): boolean => kind === 'back'

/** Returns, by id, when incidents that pages do not show ended. Which alert speaks for an incident can become one that pages hide. */
async function endsOf(db: Kysely<Tables>, incidents: readonly { id: string }[]): Promise<Map<string, number | null>> {
  const ends = new Map<string, number | null>()
  for (const some of chunksOf(incidents)) {
    const rows = await db
      .selectFrom('incidents')
      .select(['id', 'resolved_at'])
      .where(
        'id',
        'in',
        some.map(({ id }) => id),
      )
      .execute()
    for (const { id, resolved_at } of rows) ends.set(id, resolved_at)
  }
  return ends
}

const rowsOf = (db: Kysely<Tables>, clientId: string): Promise<AnnouncedIncidentRow[]> =>
  db.selectFrom('announced_incidents').selectAll().where('client_id', '=', clientId).orderBy('id').execute()

// We wrote the text.
const turnsIn = ({ turns }: Pick<AnnouncedIncidentRow, 'turns'>): Turn[] => JSON.parse(turns)

/** @param changedAt of the row that it was compared with: another node may have written the same change by now */
async function write(
  trx: Transaction<Tables>,
  row: AnnouncedIncidentRow,
  changedAt: number | undefined,
): Promise<void> {
  if (changedAt === undefined) {
    await trx
      .insertInto('announced_incidents')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    return
  }
  await trx
    .updateTable('announced_incidents')
    .set(row)
    .where('id', '=', row.id)
    .where('changed_at', '=', changedAt)
    .execute()
}

/** Returns the incidents of a client's page that changed lately. */
export const announcedIncidents = (
  { read }: Pick<Store, 'read'>,
  clientId: string,
  now: number,
): Promise<AnnouncedIncidentRow[]> =>
  read
    .selectFrom('announced_incidents')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('changed_at', '>', now - DAY)
    .orderBy('id')
    .execute()

/** Returns the changes of incidents that a subscriber has not been e-mailed about yet. */
export const incidentsSince = (
  rows: readonly AnnouncedIncidentRow[],
  sites: readonly { id: string; name: string; timezone: string }[],
  until: number,
  now: number,
): StatusChange[] =>
  rows.flatMap((row) => {
    const site = sites.find(({ id }) => id === row.site_id)
    if (site === undefined) return []
    const { id, title } = row
    return turnsIn(row)
      .filter((turn) => isNews(turn, until, now))
      .map((turn) => ({ id, ...turn, site: site.name, title, timezone: site.timezone }))
  })

/** Forgets incidents that ended long ago, and those that are deleted or of pages that are no longer shared. */
export async function forgetIncidents({ write: db }: Pick<Store, 'write'>, now: number): Promise<void> {
  await db
    .deleteFrom('announced_incidents')
    .where(({ and, eb, exists, not, or, selectFrom }) =>
      or([
        and([
          eb('changed_at', '<', now - KEPT_MS),
          not(
            exists(
              selectFrom('incidents')
                .select('incidents.id')
                .whereRef('incidents.id', '=', 'announced_incidents.id')
                .where('incidents.resolved_at', 'is', null),
            ),
          ),
        ]),
        not(
          exists(
            selectFrom('status_links')
              .select('status_links.client_id')
              .whereRef('status_links.client_id', '=', 'announced_incidents.client_id'),
          ),
        ),
      ]),
    )
    .execute()
}
