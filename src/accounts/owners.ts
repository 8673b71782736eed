import type { OwnedKind, OwnersOf } from '../http/index.ts'
import type { Kysely, Store, Tables } from '../store/index.ts'

interface Owned {
  id: string
  client_id: string | null
}

type Find = (db: Kysely<Tables>, ids: readonly string[]) => Promise<Owned[]>

const inTable =
  (table: 'sites' | 'alerts' | 'incidents' | 'annotations' | 'deliveries'): Find =>
  (db, ids) =>
    db
      .selectFrom(table)
      .select(['id', 'client_id'])
      .where('id', 'in', [...ids])
      .execute()

const probes: Find = (db, ids) =>
  db
    .selectFrom('probes')
    .innerJoin('sites', 'sites.id', 'probes.site_id')
    .select(['probes.id', 'sites.client_id'])
    .where('probes.id', 'in', [...ids])
    .execute()

const silences: Find = (db, ids) =>
  db
    .selectFrom('silences')
    .leftJoin('probes', 'probes.id', 'silences.probe_id')
    .leftJoin('sites', (join) =>
      join.on((eb) => eb('sites.id', '=', eb.fn.coalesce('silences.site_id', 'probes.site_id'))),
    )
    .leftJoin('incidents', 'incidents.id', 'silences.incident_id')
    .select((eb) => [
      'silences.id',
      eb.fn.coalesce('silences.client_id', 'sites.client_id', 'incidents.client_id').as('client_id'),
    ])
    .where('silences.id', 'in', [...ids])
    .execute()

const maintenance: Find = (db, ids) =>
  db
    .selectFrom('maintenance')
    .leftJoin('probes', 'probes.id', 'maintenance.probe_id')
    .leftJoin('sites', (join) =>
      join.on((eb) => eb('sites.id', '=', eb.fn.coalesce('maintenance.site_id', 'probes.site_id'))),
    )
    .select((eb) => ['maintenance.id', eb.fn.coalesce('maintenance.client_id', 'sites.client_id').as('client_id')])
    .where('maintenance.id', 'in', [...ids])
    .execute()

const FINDERS: Readonly<Record<OwnedKind, Find>> = {
  client: async (db, ids) => {
    const rows = await db
      .selectFrom('clients')
      .select('id')
      .where('id', 'in', [...ids])
      .execute()
    return rows.map(({ id }) => ({ id, client_id: id }))
  },
  site: inTable('sites'),
  probe: probes,
  alert: inTable('alerts'),
  incident: inTable('incidents'),
  silence: silences,
  maintenance,
  delivery: inTable('deliveries'),
  annotation: inTable('annotations'),
}

/** Finds whose things are, by the rows that hold them. */
export const createOwners =
  ({ read }: Pick<Store, 'read'>): OwnersOf =>
  async (kind, ids) =>
    new Map((await FINDERS[kind](read, ids)).map(({ id, client_id }) => [id, client_id]))
