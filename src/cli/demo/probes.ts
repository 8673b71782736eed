import type { Context } from '../../management/index.ts'
import { createProbe, PROBE_TYPES, registryOf } from '../../probes/index.ts'
import type { ProbeRow } from '../../store/index.ts'
import type { DemoSite } from './sites.ts'
import type { SiteProfile } from './world/profile.ts'
import { COFFEE } from './world/sites.ts'

export const REGISTRY = registryOf(PROBE_TYPES)

const VERSIONS = 'tag_manager_version'

/** Those whose target the demo has; the others would ask for pages, certificates and accounts that do not exist. */
const TYPES = PROBE_TYPES.filter(({ name, kind }) => kind === 'data' || name === 'http_health' || name === VERSIONS)

export interface DemoProbe {
  site: DemoSite
  row: ProbeRow
}

/** The probes of the demo's sites: those that are there, and new ones for what is missing. */
export async function ensureDemoProbes(ctx: Context, sites: readonly DemoSite[]): Promise<DemoProbe[]> {
  const known = await ctx.store.read.selectFrom('probes').selectAll().orderBy('created_at').execute()
  const probes: DemoProbe[] = []
  for (const site of sites) {
    for (const { name } of TYPES) {
      const input = { site_id: site.row.id, probe_type: name, config: configOf(site.profile, name) }
      const there = known.find(({ site_id, probe_type }) => site_id === site.row.id && probe_type === name)
      probes.push({ site, row: there ?? (await createProbe(ctx, REGISTRY, input)) })
    }
  }
  return probes
}

/** Where it differs from the defaults. */
function configOf(site: SiteProfile, type: string): Record<string, number | boolean> {
  if (type === VERSIONS) {
    // The pages do not exist. The roaster's people want to be asked about each release, the others have it marked only.
    return { check_page: false, ...(site === COFFEE ? {} : { change_ttl_hours: 0 }) }
  }
  return {}
}
