import { setImmediate } from 'node:timers/promises'
import { Gauge, Registry } from 'prom-client'
import { type UnresolvedAlert, unresolvedAlerts } from '../alerts/index.ts'
import { type SiteFigures, siteFigures, type TagFigures } from '../analytics/index.ts'
import { type Clock, Kept, SECOND } from '../lib/index.ts'
import { monthUsages } from '../management/index.ts'
import { IDENTIFIER_COLUMNS, OTHER, VALIDITY_COLUMNS } from '../rollups/index.ts'
import type { Store } from '../store/index.ts'

/** How long figures are kept, ms: those of 24 hours change slowly, and several Prometheus servers may ask. */
const FRESH_MS = 30 * SECOND
/**
 * With more sites than this, `auto` leaves out figures per site: Prometheus would keep tens of thousands of series that no one
 * asked for.
 */
const SITES_MAX = 1_000
/** Tags of a site with their own series, those that ran most; the rest share one. */
const TAGS_PER_SITE = 20
/** Sites whose samples are made before yielding to other work. */
const SITES_PER_TURN = 50

interface SiteMetricsOptions {
  store: Store
  clock: Clock
  setting: 'auto' | 'on' | 'off'
}

/**
 * The figures in `/metrics` of each active site, its tags and each client. They are read separately from the process's counters: on
 * a reader of the reports, at most every 30 s, and kept as text.
 */
export class SiteMetrics {
  readonly #text: Kept<string>
  readonly #clock: Clock

  constructor({ store, clock, setting }: SiteMetricsOptions) {
    this.#clock = clock
    this.#text = new Kept(FRESH_MS, async (now) => (setting === 'off' ? '' : readText(store, setting, now)))
  }

  /** Returns the metrics as text; empty when there is nothing to report, and while the store is unavailable. */
  text(): Promise<string> {
    return this.#text.get(this.#clock.now()).catch(() => '')
  }
}

async function readText(store: Store, setting: 'auto' | 'on', now: number): Promise<string> {
  const sites = await activeSites(store)
  if (setting === 'auto' && sites.length > SITES_MAX) return ''
  const figures = await siteFigures(store, sites, now)
  const alerts = Map.groupBy(await unresolvedAlerts(store.read), ({ siteId }) => siteId)
  const containers = await containersBySite(store)
  const quotas = await monthUsages(store.read, now)
  const registry = new Registry()
  const gaugeOf = ({ name, help, labelNames }: Omit<Family, 'samplesOf'>) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const bySite = FAMILIES.map((family) => ({ gauge: gaugeOf(family), samplesOf: family.samplesOf }))
  for (const [at, site] of sites.entries()) {
    if (at % SITES_PER_TURN === SITES_PER_TURN - 1) await setImmediate()
    const read = {
      site,
      figures: figures.get(site.site_no),
      tags: bounded(figures.get(site.site_no)?.tags ?? []),
      alerts: alerts.get(site.id) ?? [],
      containers: containers.get(site.site_no) ?? [],
    }
    for (const { gauge, samplesOf } of bySite) {
      for (const { labels, value } of samplesOf(read)) gauge.set(labels, value)
    }
  }
  const left = gaugeOf({
    name: 'tagwarden_client_quota_left_events',
    help: 'Events that the client may still send in this UTC month',
    labelNames: ['client_id', 'client'],
  })
  for (const { id, name, events, limit } of quotas) {
    left.set({ client_id: id, client: name }, Math.max(0, limit - events))
  }
  let text = ''
  for (const { name } of registry.getMetricsAsArray()) {
    text += `${await registry.getSingleMetricAsString(name)}\n`
    await setImmediate()
  }
  return text
}

interface Site {
  site_no: number
  id: string
  name: string
}

interface SiteRead {
  site: Site
  figures: SiteFigures | undefined
  tags: readonly TagFigures[]
  alerts: readonly UnresolvedAlert[]
  containers: readonly ContainerSeen[]
}

const labelsOf = ({ id, name }: Site) => ({ site_id: id, site: name })

interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

interface Family {
  name: string
  help: string
  labelNames: string[]
  samplesOf: (read: SiteRead) => Sample[]
}

const SITE_LABELS = ['site_id', 'site']

const FAMILIES: readonly Family[] = [
  {
    name: 'tagwarden_site_last_seen_timestamp_seconds',
    help: 'When a container of the site last sent data, Unix time',
    labelNames: [...SITE_LABELS, 'container_id'],
    samplesOf: ({ site, containers }) =>
      containers.map(({ container_id, last_seen_at }) => ({
        labels: { ...labelsOf(site), container_id },
        value: last_seen_at / 1_000,
      })),
  },
  {
    name: 'tagwarden_site_events_24h',
    help: 'Events of the last 24 hours',
    labelNames: SITE_LABELS,
    samplesOf: ({ site, figures }) => [{ labels: labelsOf(site), value: figures?.events_24h ?? 0 }],
  },
  {
    name: 'tagwarden_site_score',
    help: 'Score of the last 24 hours, 0 to 100; absent with too little data',
    labelNames: SITE_LABELS,
    samplesOf: ({ site, figures }) =>
      typeof figures?.score === 'number' ? [{ labels: labelsOf(site), value: figures.score }] : [],
  },
  {
    name: 'tagwarden_site_open_alerts',
    help: 'Unresolved alerts, including acknowledged ones',
    labelNames: [...SITE_LABELS, 'severity'],
    samplesOf: ({ site, alerts }) =>
      (['warning', 'critical'] as const).map((severity) => ({
        labels: { ...labelsOf(site), severity },
        value: alerts.filter((alert) => alert.severity === severity).length,
      })),
  },
  {
    name: 'tagwarden_tag_runs_24h',
    help: 'Runs of the tag in the last 24 hours',
    labelNames: [...SITE_LABELS, 'tag'],
    samplesOf: ({ site, tags }) => tagSamples(site, tags, ({ executions }) => executions),
  },
  {
    name: 'tagwarden_tag_failures_24h',
    help: 'Runs of the tag in the last 24 hours that did not succeed',
    labelNames: [...SITE_LABELS, 'tag'],
    samplesOf: ({ site, tags }) => tagSamples(site, tags, ({ executions, success }) => executions - success),
  },
  {
    name: 'tagwarden_tag_answers_24h',
    help: "Runs of the tag in the last 24 hours whose vendor's answer is known; absent without any",
    labelNames: [...SITE_LABELS, 'tag'],
    samplesOf: ({ site, tags }) => tagSamples(site, tags.filter(isAnswered), ({ answered }) => answered),
  },
  {
    name: 'tagwarden_tag_refusals_24h',
    help: 'Runs of the tag in the last 24 hours that the vendor did not accept: 4xx, 5xx or no answer',
    labelNames: [...SITE_LABELS, 'tag'],
    samplesOf: ({ site, tags }) => tagSamples(site, tags.filter(isAnswered), ({ refused }) => refused),
  },
  {
    name: 'tagwarden_site_consent_events_24h',
    help: 'Events of the last 24 hours by consent, among those that reported it; absent without any',
    labelNames: [...SITE_LABELS, 'consent'],
    samplesOf: ({ site, figures }) => signalSamples(site, figures?.signals, 'consent', CONSENT),
  },
  {
    name: 'tagwarden_site_identifier_events_24h',
    help: 'Events of the last 24 hours with each identifier, among those that reported identifiers; absent without any',
    labelNames: [...SITE_LABELS, 'identifier'],
    samplesOf: ({ site, figures }) =>
      signalSamples(site, figures?.signals, 'identifier', ['identifiers_total', ...IDENTIFIER_COLUMNS]),
  },
  {
    name: 'tagwarden_site_value_faults_24h',
    help: 'Commerce events of the last 24 hours with each fault, among those that were checked; absent without any',
    labelNames: [...SITE_LABELS, 'fault'],
    samplesOf: ({ site, figures }) =>
      signalSamples(site, figures?.signals, 'fault', ['validity_total', ...VALIDITY_COLUMNS]),
  },
]

type Signals = NonNullable<SiteFigures['signals']>

/** Columns of signals. The first counts events that reported any, and becomes the sample `reported`. */
type SignalGroup = readonly [total: keyof Signals, ...each: (keyof Signals)[]]

const CONSENT: SignalGroup = [
  'consent_total',
  'ad_storage_granted',
  'ad_storage_denied',
  'analytics_storage_granted',
  'analytics_storage_denied',
  'never_updated',
]

/** Returns no samples for a site that reports none of the signals, such as one with senders of version 1. */
function signalSamples(site: Site, signals: Signals | undefined, label: string, group: SignalGroup): Sample[] {
  const [total, ...each] = group
  if (signals === undefined || signals[total] === 0) return []
  const sample = (name: string, value: number): Sample => ({ labels: { ...labelsOf(site), [label]: name }, value })
  return [sample('reported', signals[total]), ...each.map((column) => sample(column, signals[column]))]
}

const isAnswered = ({ answered }: TagFigures): boolean => answered > 0

const tagSamples = (site: Site, tags: readonly TagFigures[], countOf: (tag: TagFigures) => number): Sample[] =>
  tags.map((tag) => ({ labels: { ...labelsOf(site), tag: tag.tag_key }, value: countOf(tag) }))

/** Returns the tags that ran most, and `(other)` for the rest. */
function bounded(tags: readonly TagFigures[]): TagFigures[] {
  const named = tags
    .filter(({ tag_key }) => tag_key !== OTHER)
    .toSorted((a, b) => b.executions - a.executions || (a.tag_key < b.tag_key ? -1 : 1))
  const rest = [...named.slice(TAGS_PER_SITE), ...tags.filter(({ tag_key }) => tag_key === OTHER)]
  if (rest.length === 0) return named
  const other = { tag_key: OTHER, executions: 0, success: 0, answered: 0, refused: 0 }
  for (const { executions, success, answered, refused } of rest) {
    other.executions += executions
    other.success += success
    other.answered += answered
    other.refused += refused
  }
  return [...named.slice(0, TAGS_PER_SITE), other]
}

const activeSites = ({ read }: Store): Promise<Site[]> =>
  read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['sites.site_no', 'sites.id', 'sites.name'])
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .orderBy('sites.site_no')
    .execute()

/** Containers of a site in the metrics, those that sent something last: a sender can invent others every day. */
const CONTAINERS_PER_SITE = 20

interface ContainerSeen {
  site_no: number
  container_id: string
  last_seen_at: number
}

/** Returns when the containers of each site last sent something. */
async function containersBySite({ read }: Pick<Store, 'read'>): Promise<Map<number, ContainerSeen[]>> {
  const rows = await read
    .selectFrom((eb) =>
      eb
        .selectFrom('site_containers')
        .select((row) => [
          'site_no',
          'container_id',
          'last_seen_at',
          row.fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('site_no').orderBy('last_seen_at', 'desc').orderBy('container_id'))
            .as('place'),
        ])
        .as('site_containers'),
    )
    .select(['site_no', 'container_id', 'last_seen_at'])
    .where('place', '<=', CONTAINERS_PER_SITE)
    .orderBy('site_no')
    .orderBy('container_id')
    .execute()
  return Map.groupBy(rows, ({ site_no }) => site_no)
}
