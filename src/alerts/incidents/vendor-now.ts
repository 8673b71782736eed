import { sql } from 'kysely'
import type { Visible } from '../../http/index.ts'
import type { Kysely, Tables } from '../../store/index.ts'
import { LASTS } from './reach.ts'
import { FAILING, signOf } from './sign.ts'

/** A vendor's state now. */
export interface VendorNow {
  /** Active sites with an unresolved alert about one of its tags. */
  failing: ReadonlySet<string>
  /** Its unresolved incident, when it fails on many sites at once. */
  incident: { id: string; title: string } | null
}

const TYPES = Object.keys(FAILING)

/** Returns the vendors that anything is wrong with, by id. Only callers who see every client get `incident`. */
export async function vendorsNow(db: Kysely<Tables>, visible: Visible): Promise<Map<string, VendorNow>> {
  const alerts = await db
    .selectFrom('alerts')
    .innerJoin('sites', 'sites.id', 'alerts.site_id')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select([
      'alerts.id',
      'alerts.site_id',
      'probe_id',
      'probe_type',
      'subject',
      'details',
      'bad_events',
      'severity',
      'title',
    ])
    .select(['started_at', 'alerts.opened_at', 'resolved_at', 'resolution', 'vendor'])
    // A literal, because with a parameter neither engine uses the partial index of unresolved alerts.
    .where(sql<boolean>`alerts.state <> 'resolved'`)
    .where('probe_type', 'in', TYPES)
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .$if(visible !== null, (all) => all.where('clients.id', 'in', [...(visible ?? [])]))
    .execute()
  const failing = new Map<string, Set<string>>()
  for (const alert of alerts) {
    const { vendor } = signOf(alert)
    if (vendor !== null) failing.set(vendor, (failing.get(vendor) ?? new Set()).add(alert.site_id))
  }
  const incidents = await db
    .selectFrom('incidents')
    .select(['id', 'title', 'vendor'])
    .where(LASTS)
    .where('scope', '=', 'vendor')
    .$if(visible !== null, (all) => all.where('client_id', 'in', [...(visible ?? [])]))
    .orderBy('id')
    .execute()
  const together = new Map(incidents.flatMap(({ vendor, ...one }) => (vendor === null ? [] : [[vendor, one] as const])))
  return new Map(
    [...new Set([...failing.keys(), ...together.keys()])].map((vendor) => [
      vendor,
      { failing: failing.get(vendor) ?? new Set<string>(), incident: together.get(vendor) ?? null },
    ]),
  )
}
