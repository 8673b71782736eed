import type { TestContext } from 'node:test'
import type { Outbound } from '../../../src/outbound/index.ts'
import type {
  JsonObject,
  ProbeContext,
  ProbeOutcome,
  ProbeSettings,
  ProbeType,
} from '../../../src/probes/probe-type.ts'
import { withDefaults } from '../../../src/probes/probe-type.ts'
import { PageReader } from '../../../src/probes/types/pages.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { BLANK_SITE } from '../../../testkit/sites.ts'
import { testOutbound } from '../../outbound/support.ts'
import { PROBE_SURROUNDINGS } from '../support.ts'

/** A site as it is in the store, without a store; `over` replaces fields. */
export const siteRow = (over: Partial<SiteRow> = {}): SiteRow => ({
  site_no: 1,
  id: '00000000-0000-4000-8000-000000000001',
  client_id: '00000000-0000-4000-8000-000000000002',
  name: 'shop',
  url: 'http://127.0.0.1:9/',
  ingest_key: 'key',
  ...BLANK_SITE,
  ...over,
})

export const PROBE_ID = '00000000-0000-4000-8000-000000000003'

export interface RunGiven {
  site: SiteRow
  probeId?: string
  config?: JsonObject
  memory?: JsonObject
  /** Whether the probe has never run, or not since a pause. */
  isFirst?: boolean
  now?: number
  timeoutMs?: number
  settings?: Partial<ProbeSettings>
  store?: Pick<Store, 'read' | 'reports'>
  lastReview?: number
  /** Refused without it. */
  writeReferences?: ProbeContext<unknown>['writeReferences']
  /** Where names lead; addresses at 127.0.0.0/8 only without it. */
  outbound?: Outbound
  pages?: PageReader
}

/** One for all: its thread holds up no test at the end. */
const PAGES = new PageReader()

const NO_STORE = {
  get read(): Store['read'] {
    throw new Error('this test has no store')
  },
  get reports(): Store['reports'] {
    throw new Error('this test has no store')
  },
}

/** Runs a type once, against real servers at 127.0.0.1. */
export function runType(t: TestContext, type: ProbeType, given: RunGiven): Promise<ProbeOutcome> {
  const { site, config = {}, memory = {}, now = NOW, timeoutMs = 10_000, settings = {}, store = NO_STORE } = given
  const { outbound = testOutbound('127.0.0.0/8'), pages = PAGES } = given
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error('the time is over')), timeoutMs)
  t.after(() => clearTimeout(timer))
  return type.run({
    site,
    probe: {
      id: given.probeId ?? PROBE_ID,
      interval_seconds: type.defaultIntervalSeconds,
      recent_statuses: given.isFirst === true ? '' : 'o',
    },
    config: withDefaults(type, config),
    memory,
    now,
    timeoutMs,
    signal: controller.signal,
    store,
    writeReferences: given.writeReferences ?? (() => Promise.reject(new Error('this test writes nothing'))),
    lastReview: () => Promise.resolve(given.lastReview ?? null),
    outbound,
    pages,
    settings: { ...PROBE_SURROUNDINGS.settings, ...settings },
  })
}
