import { MINUTE } from '../../../src/lib/index.ts'
import { migrate, type ProbeRow, type SiteRow, type Store } from '../../../src/store/index.ts'
import { fastestFolder, newFolder, removeFolder } from '../../../testkit/folders.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { openFolderWithoutThreads } from '../../../testkit/sqlite.ts'
import { Random } from '../../detection/random.ts'
import { RUN_EVERY, SLOTS, timeOf } from '../../detection/world.ts'
import type { Agency } from './causes.ts'
import type { Run } from './data-runs.ts'
import { NETWORK_PROBES, networkRuns } from './network-runs.ts'
import type { TimedRun, Watched } from './pipeline.ts'

const DATA_PROBES = [
  'data_volume',
  'data_freshness',
  'tag_failure_rate',
  'tag_latency',
  'tag_missing',
  'user_data_quality',
  'ecommerce_quality',
] as const

const SITES_A_CLIENT = 2
/** A version is seen by a check that runs so often. */
const SEEN_WITHIN_MS = 15 * MINUTE

/** The store of one agency, as the program would have it, with no result yet. */
export interface World extends Watched {
  /** By the site's id: its place. */
  places: ReadonlyMap<string, number>
}

/** Lends an empty store, which is removed afterwards. */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = await newFolder(await fastestFolder())
  const store = await openFolderWithoutThreads(folder, {})
  try {
    await migrate(store.admin, store.columnTypes)
    return await work(store)
  } finally {
    await store.close()
    await removeFolder(folder)
  }
}

/** Writes the sites of an agency with their probes and tags, and puts all that their probes find into the order of time. */
export async function worldOf(store: Store, agency: Agency, dataRuns: readonly (readonly Run[])[]): Promise<World> {
  const places = new Map<string, number>()
  const probes = new Map<string, { probe: ProbeRow; site: SiteRow }>()
  const runs: TimedRun[] = []
  const releases: Watched['releases'][number][] = []
  let clientId = ''
  for (const [place, site] of agency.sites.entries()) {
    const random = new Random(agency.seed * 104_729 + place)
    const shared = place % SITES_A_CLIENT === 0 ? {} : { client_id: clientId }
    const row = await insertSite(store, { name: site.profile.name, ...shared })
    clientId = row.client_id
    places.set(row.id, place)
    await store.write
      .updateTable('clients')
      .set({ chat_webhook: `https://hooks.slack.com/services/T0/B0/${clientId}` })
      .where('id', '=', clientId)
      .execute()
    const tags = site.profile.tags.map(({ key }, index) => ({
      site_no: row.site_no,
      container_id: 'GTM-BENCH',
      tag_id: String(index + 1),
      tag_name: key,
      last_seen_at: timeOf(SLOTS),
    }))
    await store.write.insertInto('tag_names').values(tags).execute()
    for (const at of site.releases) releases.push({ at: timeOf(at) + random.below(SEEN_WITHIN_MS), siteId: row.id })
    const found = Map.groupBy([...(dataRuns[place] ?? []), ...networkRuns(agency, place, random)], ({ probe }) => probe)
    for (const type of [...DATA_PROBES, ...Object.keys(NETWORK_PROBES)]) {
      const probe = await insertProbe(store, row.id, { probe_type: type, name: type })
      probes.set(probe.id, { probe, site: row })
      // Each at its own time within the interval, as the scheduler spreads them.
      const offset = type in NETWORK_PROBES ? 0 : random.below(RUN_EVERY * MINUTE)
      for (const { slot, outcome } of found.get(type) ?? []) {
        runs.push({ at: Math.floor(timeOf(slot)) + offset, probeId: probe.id, outcome })
      }
    }
  }
  const away = agency.causes.filter(({ kind }) => kind === 'connection')
  return {
    store,
    places,
    probes,
    runs: runs.sort((a, b) => a.at - b.at),
    releases: releases.sort((a, b) => a.at - b.at),
    isAway: (at) => away.some(({ from, to }) => at >= timeOf(from) && at < timeOf(to)),
  }
}
