import { MINUTE, SECOND } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import { createProbe, nextRunAt, PROBE_TYPES, registryOf, updateProbe } from '../../probes/index.ts'
import type { TimeRange } from '../../rollups/index.ts'
import type { ProbeRow } from '../../store/index.ts'
import type { Incident, Release } from './incidents.ts'
import { type DemoSite, isLedToDemo } from './sites.ts'
import { IMAGE_PATH } from './tag-server.ts'
import { COFFEE } from './world.ts'

export const REGISTRY = registryOf(PROBE_TYPES)

const VERSIONS = 'tag_manager_version'
const IMAGE = 'image_version'

/** Those whose target the demo has; the others would ask for pages, certificates, accounts and counts that do not exist. */
const TYPES = PROBE_TYPES.filter(
  ({ name, kind, needs, autoNeeds }) =>
    (kind === 'data' && needs.length === 0 && autoNeeds !== null) || ['http_health', VERSIONS, IMAGE].includes(name),
)

/** Whether what it finds changes with releases only. */
export const isOfReleases = ({ probe_type }: ProbeRow): boolean => [VERSIONS, IMAGE].includes(probe_type)

/** What the probes ask is the program that asks, which writes and judges a week meanwhile: on a slow machine its answers take seconds. */
const TIMEOUT_MS = 30_000

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
      const there = known.find(({ site_id, probe_type }) => site_id === site.row.id && probe_type === name)
      // A tag server that someone gave the site does not say its image there.
      if (name === IMAGE && there === undefined && !isLedToDemo(site.row)) continue
      const config = configOf(site, name)
      const input = { site_id: site.row.id, probe_type: name, config, timeout_ms: TIMEOUT_MS }
      const row = there === undefined ? await createProbe(ctx, REGISTRY, input) : await ledAgain(ctx, site, there)
      probes.push({ site, row })
    }
  }
  return probes
}

/** Where it differs from the defaults. */
function configOf({ profile, row }: DemoSite, type: string): Record<string, number | boolean | string> {
  // A slow machine would show slow sites, and what else fails there as their consequence.
  if (type === 'http_health') return { slow_ms: 0 }
  if (type === IMAGE) return { version_url: `${row.tag_server_url}${IMAGE_PATH}` }
  if (type === VERSIONS) {
    // The pages do not exist. The roaster's people want to be asked about each release, the others have it marked only.
    return { check_page: false, ...(profile === COFFEE ? {} : { change_ttl_hours: 0 }) }
  }
  return {}
}

/** The demo's tag server may have another port than the last time. */
async function ledAgain(ctx: Context, site: DemoSite, probe: ProbeRow): Promise<ProbeRow> {
  if (probe.probe_type !== IMAGE || !isLedToDemo(site.row)) return probe
  return updateProbe(ctx, REGISTRY, probe.id, { config: configOf(site, IMAGE) })
}

/** As many as lists of probes show as a bar. */
const RECENT_RUNS = 50
/** How long before an incident its probes look, so that they are seen to have been fine. */
const BEFORE_INCIDENT_MS = 30 * MINUTE

/** What finds an incident. */
const FOUND_BY: Readonly<Record<Incident['kind'], readonly string[]>> = {
  'tag fails': ['tag_failure_rate'],
  'tag does not fire': ['tag_missing'],
  'vendor refuses': ['vendor_status'],
  'consent is not updated': ['consent_signals'],
  'purchases come twice': ['duplicates'],
  'transaction ids are lost': ['ecommerce_quality', 'field_contract'],
  'nothing arrives': ['data_volume'],
}

export interface DemoHistory {
  incidents: readonly Incident[]
  /** Oldest first. */
  releases: readonly Release[]
  /** Nothing is known from before, and the present. Epoch ms. */
  from: number
  to: number
}

/**
 * When a probe is run for the history, oldest first: three weeks of all of them would take minutes. So it is what people look at:
 * the first run, what went wrong, what was published, and the last runs.
 */
export function stretchesOf({ site, row }: DemoProbe, { incidents, releases, from, to }: DemoHistory): TimeRange[] {
  // It asks for the newest event there is. To that of the past this comes close only where there is one every few seconds.
  if (row.probe_type === 'data_freshness' && site.profile.batchSize !== null) return []
  const interval = row.interval_seconds * SECOND
  const seen = releases.filter((release) => release.site === site.profile && row.probe_type === 'tag_manager_version')
  const found = incidents.filter(
    (incident) => incident.site === site.profile && FOUND_BY[incident.kind].includes(row.probe_type),
  )
  const stretches = [
    { from, to: from + interval },
    { from: to - RECENT_RUNS * interval, to },
    ...seen.map(({ at }) => ({ from: at, to: at + interval })),
    ...found.map((incident) => ({ from: incident.from - BEFORE_INCIDENT_MS, to: incident.to })),
  ]
  return stretches
    .map((stretch) => ({ from: Math.max(from, stretch.from), to: Math.min(to, stretch.to) }))
    .filter((stretch) => stretch.from < stretch.to)
    .sort((a, b) => a.from - b.from)
}

/** When the probe runs next for the history, epoch ms; infinite when it does not any more. */
export function nextRunIn(
  stretches: readonly TimeRange[],
  { id, interval_seconds, next_run_at, last_status }: ProbeRow,
): number {
  // What was found has to be seen to end.
  if (last_status !== null && last_status !== 'ok') return next_run_at
  const dueIn = ({ from }: TimeRange) => Math.max(next_run_at, nextRunAt(id, interval_seconds, from - 1))
  const stretch = stretches.find((one) => dueIn(one) < one.to)
  return stretch === undefined ? Number.POSITIVE_INFINITY : dueIn(stretch)
}
