import { monitorEventLoopDelay } from 'node:perf_hooks'
import { decodeBody, type Outbound, OutboundError, type OutboundRequest } from '../../../src/outbound/index.ts'
import {
  PageReader,
  PROBE_TYPES,
  type ProbeOutcome,
  type ProbeSettings,
  type ProbeType,
  withDefaults,
} from '../../../src/probes/index.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { Random } from '../../../testkit/random.ts'
import { HostileAnswers } from './generate.ts'
import { readSeeds } from './seeds.ts'

/** What came of the runs of one type. */
export interface TypeTally {
  runs: number
  bodies: number
  statuses: Record<ProbeOutcome['status'], number>
  longestMs: number
}

export interface PagesResult {
  patterns: number
  /** Answers by what their bodies were. */
  made: Readonly<Record<string, number>>
  types: ReadonlyMap<string, TypeTally>
  /** What went wrong, with the number of the run: same seed, same answers. */
  failures: readonly string[]
  /** Longest time in which this process, which asks and judges, did nothing else, ms. */
  stallMs: number
  memory: { earlyMb: number; lateMb: number; peakMb: number }
  seconds: number
}

/** Those that read answers of strangers, the one that reads most of them twice; Google's are left out, which are signed in to. */
const TYPES: readonly ProbeType[] = [
  'cmp_check',
  'cmp_check',
  'tag_manager_version',
  'http_health',
  'tag_server_infra',
  'image_version',
  'meta_quality',
].flatMap((name) => PROBE_TYPES.filter((type) => type.name === name))
/** Where a type needs more than its defaults. */
const CONFIGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cmp_check: { own_address: 'consent.shop.example' },
  image_version: { version_url: 'http://shop.example/version' },
  meta_quality: { dataset_id: '1234567890', access_token: 'x'.repeat(40) },
}
const SIDE_BY_SIDE = 8
const DETAILS_MAX = 16_000
const FAILURES_SHOWN = 20
const BASE = 'http://shop.example'

const SETTINGS: ProbeSettings = {
  tagManagerBaseUrl: BASE,
  tagManagerApiUrl: BASE,
  googleCredentials: null,
  warehouseApiUrl: BASE,
  ga4ApiUrl: BASE,
  metaApiUrl: BASE,
  hostingAApiUrl: BASE,
  hostingAToken: 'token',
  hostingBStatusUrl: `${BASE}/{container_id}`,
  hostingBToken: null,
}

const SITE: SiteRow = {
  site_no: 1,
  id: '00000000-0000-4000-8000-000000000001',
  client_id: '00000000-0000-4000-8000-000000000002',
  name: 'shop',
  url: `${BASE}/`,
  ingest_key: 'key',
  is_active: 1,
  key_revoked_at: null,
  timezone: 'UTC',
  tag_server_url: `${BASE}/metrics`,
  tag_manager_web_container_id: 'GTM-ABC1234',
  tag_manager_server_container_id: null,
  analytics_property_id: null,
  analytics_measurement_id: null,
  warehouse_project: null,
  warehouse_dataset: null,
  hosting_a_container_id: 'a1',
  hosting_b_container_id: 'b1',
  cmp_provider: null,
  average_order_value: null,
  currency: null,
  slo_target: null,
  created_at: 0,
}

/** Judges hostile answers as probes do, until so many bodies were read: the real types, with their thread for pages. */
export async function runPages(bodies: number, seed: number, progress: (text: string) => void): Promise<PagesResult> {
  const seeds = await readSeeds()
  const random = new Random(seed)
  const pages = new PageReader()
  const delay = monitorEventLoopDelay({ resolution: 10 })
  const types = new Map<string, TypeTally>()
  const failures: string[] = []
  const made: Record<string, number> = {}
  const memory: number[] = []
  let read = 0
  let runs = 0

  const runOne = async (): Promise<void> => {
    const number = ++runs
    const type = TYPES[number % TYPES.length]
    if (type === undefined) throw new Error('there are no types to try')
    const answers = new HostileAnswers(random.fork(), seeds)
    const tally = tallyOf(types, type.name)
    const began = performance.now()
    let asked = 0
    const outbound = hostileOutbound(answers, () => asked++)
    const fault = await judge(type, outbound, pages, tally).catch((thrown: unknown) => `threw ${String(thrown)}`)
    tally.longestMs = Math.max(tally.longestMs, performance.now() - began)
    tally.bodies += asked
    read += asked
    for (const [kind, count] of Object.entries(answers.made)) made[kind] = (made[kind] ?? 0) + count
    if (fault !== null && failures.length < FAILURES_SHOWN) failures.push(`run ${number}, ${type.name}: ${fault}`)
    if (number % 200 === 0) memory.push(process.memoryUsage.rss() / 1_048_576)
    if (number % 5_000 === 0) progress(`pages: ${read} bodies, ${failures.length} failures`)
  }

  const began = performance.now()
  // The first run loads what is loaded late.
  await runOne()
  delay.enable()
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      while (read < bodies) await runOne()
    }),
  )
  delay.disable()
  await pages.close()
  const at = (share: number) => memory[Math.floor(share * (memory.length - 1))] ?? Number.NaN
  return {
    patterns: seeds.patterns,
    made,
    types,
    failures,
    stallMs: delay.max / 1e6,
    memory: { earlyMb: at(0.33), lateMb: at(1), peakMb: Math.max(0, ...memory) },
    seconds: (performance.now() - began) / 1_000,
  }
}

function tallyOf(types: Map<string, TypeTally>, name: string): TypeTally {
  const known = types.get(name)
  if (known !== undefined) return known
  const fresh: TypeTally = { runs: 0, bodies: 0, statuses: { ok: 0, warning: 0, critical: 0, error: 0 }, longestMs: 0 }
  types.set(name, fresh)
  return fresh
}

const NO_STORE: Pick<Store, 'read' | 'reports'> = {
  get read(): Store['read'] {
    throw new Error('these probes read no store')
  },
  get reports(): Store['reports'] {
    throw new Error('these probes read no store')
  },
}

/** What is wrong with the outcome; null when it is one to show to people. */
async function judge(type: ProbeType, outbound: Outbound, pages: PageReader, tally: TypeTally): Promise<string | null> {
  const outcome = await type.run({
    probe: { id: '', interval_seconds: type.defaultIntervalSeconds, recent_statuses: '' },
    site: SITE,
    config: withDefaults(type, CONFIGS[type.name] ?? {}),
    memory: {},
    now: Date.now(),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    store: NO_STORE,
    writeReferences: () => Promise.reject(new Error('these probes write nothing')),
    lastReview: () => Promise.resolve(null),
    outbound,
    pages,
    settings: SETTINGS,
  })
  tally.runs++
  tally.statuses[outcome.status]++
  const details = JSON.stringify(outcome.details)
  if (`${outcome.message}${details}`.includes('gave up reading')) return `was given up: ${outcome.message}`
  if (details.length > DETAILS_MAX) return `details of ${details.length} characters`
  return outcome.message === '' ? 'no message' : null
}

/** Every request is answered by the attacker, at once. */
function hostileOutbound(answers: HostileAnswers, onAsked: () => void): Outbound {
  const fetchBytes = (url: string, request: OutboundRequest = {}) => {
    onAsked()
    return Promise.resolve(answers.next(url, request.limits?.bodyBytes ?? 1_048_576))
  }
  return {
    fetchBytes,
    async request(url, request) {
      const { bytes, ...head } = await fetchBytes(url, request)
      return { ...head, body: decodeBody({ bytes, isTruncated: head.isTruncated }, head.headers['content-type']) }
    },
    resolve: () => Promise.reject(new OutboundError('dns', 'there is no such name')),
  }
}
