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

/** Probe types whose target the demo provides; others need pages, certificates, accounts or counts that do not exist. */
const TYPES = PROBE_TYPES.filter(
  ({ name, kind, needs, autoNeeds }) =>
    (kind === 'data' && needs.length === 0 && autoNeeds !== null) || ['http_health', VERSIONS, IMAGE].includes(name),
)

/** Whether the probe's results change only with releases. */
export const isOfReleases = ({ probe_type }: ProbeRow): boolean => [VERSIONS, IMAGE].includes(probe_type)

/** Generous, because this same process answers the probes while it writes and judges a week: on a slow machine that takes seconds. */
const TIMEOUT_MS = 30_000

export interface DemoProbe {
  site: DemoSite
  row: ProbeRow
}

/** Returns the probes of the demo's sites and creates those that are missing. */
export async function ensureDemoProbes(ctx: Context, sites: readonly DemoSite[]): Promise<DemoProbe[]> {
  const known = await ctx.store.read.selectFrom('probes').selectAll().orderBy('created_at').execute()
  const probes: DemoProbe[] = []
  for (const site of sites) {
    for (const { name } of TYPES) {
      const there = known.find(({ site_id, probe_type }) => site_id === site.row.id && probe_type === name)
      // Someone gave the site another tag server, which does not answer at `IMAGE_PATH`.
      if (name === IMAGE && there === undefined && !isLedToDemo(site.row)) continue
      const config = configOf(site, name)
      const input = { site_id: site.row.id, probe_type: name, config, timeout_ms: TIMEOUT_MS }
      const row = there === undefined ? await createProbe(ctx, REGISTRY, input) : await ledAgain(ctx, site, there)
      probes.push({ site, row })
    }
  }
  return probes
}

/** The settings that differ from the defaults. */
function configOf({ profile, row }: DemoSite, type: string): Record<string, number | boolean | string> {
  // On a slow machine, sites would count as slow and other failures as a consequence.
  if (type === 'http_health') return { slow_ms: 0 }
  if (type === IMAGE) return { version_url: `${row.tag_server_url}${IMAGE_PATH}` }
  if (type === VERSIONS) {
    // The pages do not exist. Only the coffee roaster has alerts for releases; the others just get deploy markers.
    return { check_page: false, ...(profile === COFFEE ? {} : { change_ttl_hours: 0 }) }
  }
  return {}
}

/** Updates the probe, because the demo's tag server may have another port than last time. */
async function ledAgain(ctx: Context, site: DemoSite, probe: ProbeRow): Promise<ProbeRow> {
  if (probe.probe_type !== IMAGE || !isLedToDemo(site.row)) return probe
  return updateProbe(ctx, REGISTRY, probe.id, { config: configOf(site, IMAGE) })
}

/** Number of runs that lists of probes show as a bar. */
const RECENT_RUNS = 50
/** How long before an incident its probes begin to run, to show that all was well. */
const BEFORE_INCIDENT_MS = 30 * MINUTE

/** The types of probes that detect each kind of incident. */
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
  /** The history covers the time from `from` until `to`, epoch ms. */
  from: number
  to: number
}

/**
 * The times in which a probe is run for the history, oldest first. Running all of it would take minutes, so it is only what people
 * look at: the first run, incidents, releases and the last runs.
 */
export function stretchesOf({ site, row }: DemoProbe, { incidents, releases, from, to }: DemoHistory): TimeRange[] {
  // It reads the newest event of the store. For a run in the past that is close enough only with an event every few seconds.
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

/** The probe's next run in the history, epoch ms; infinite when there is none. */
export function nextRunIn(
  stretches: readonly TimeRange[],
  { id, interval_seconds, next_run_at, last_status }: ProbeRow,
): number {
  // Keep running until what was found is over.
  if (last_status !== null && last_status !== 'ok') return next_run_at
  const dueIn = ({ from }: TimeRange) => Math.max(next_run_at, nextRunAt(id, interval_seconds, from - 1))
  const stretch = stretches.find((one) => dueIn(one) < one.to)
  return stretch === undefined ? Number.POSITIVE_INFINITY : dueIn(stretch)
}
