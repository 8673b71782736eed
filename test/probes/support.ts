import type { TestContext } from 'node:test'
import { Type } from 'typebox'
import {
  type ProbeOutcome,
  type ProbeSettings,
  Probes,
  type ProbesOptions,
  type ProbeType,
} from '../../src/probes/index.ts'
import type { ProbeRow, Store } from '../../src/store/index.ts'
import type { TestClock } from '../../testkit/clock.ts'
import { asShared, joinNode, type TestNode } from '../cluster/support.ts'

const SETTINGS: ProbeSettings = {
  tagManagerBaseUrl: 'http://127.0.0.1:9',
  tagManagerApiUrl: 'http://127.0.0.1:9',
  googleCredentials: null,
  warehouseApiUrl: 'http://127.0.0.1:9',
  ga4ApiUrl: 'http://127.0.0.1:9',
  metaApiUrl: 'http://127.0.0.1:9',
  hostingAApiUrl: 'http://127.0.0.1:9',
  hostingAToken: null,
  hostingBStatusUrl: null,
  hostingBToken: null,
}

/** What probes are given in tests: no way out, no provider. */
export const PROBE_SURROUNDINGS = {
  outbound: {
    request: () => Promise.reject(new Error('tests ask no other host')),
    fetchBytes: () => Promise.reject(new Error('tests ask no other host')),
    resolve: () => Promise.reject(new Error('tests ask no other host')),
  },
  settings: SETTINGS,
  resultDays: 90,
  retryAfterMs: 0,
}

export const OK: ProbeOutcome = { status: 'ok', message: 'all is well', details: {} }

/** A type whose runs do what the test says. */
export const typeOf = (run: ProbeType['run'], over: Partial<ProbeType> = {}): ProbeType => ({
  name: 'fake',
  title: 'Fake',
  description: 'What the test says.',
  kind: 'wire',
  siteFields: [],
  needs: [],
  config: Type.Object({}, { additionalProperties: true }),
  defaultIntervalSeconds: 60,
  run,
  ...over,
})

export interface ProbeNode extends TestNode {
  probes: Probes
}

/** A node that runs probes when the test says so; one of many, unless it joins the store as the only one. */
export async function openNode(
  t: TestContext,
  store: Store,
  clock: TestClock,
  types: readonly ProbeType[],
  options: Partial<ProbesOptions> = {},
  joined: Store = asShared(store),
): Promise<ProbeNode> {
  const node = await joinNode(t, joined, clock)
  const onError = (error: Error, what: string) => node.errors.push(`${what}: ${error.message}`)
  const probes = new Probes({ store, clock, onError, ...node, ...PROBE_SURROUNDINGS, types, ...options })
  t.after(() => probes.stop(0))
  return { ...node, probes }
}

export const probeRow = (store: Store, id: string): Promise<ProbeRow> =>
  store.write.selectFrom('probes').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const resultsOf = (store: Store, id: string) =>
  store.write.selectFrom('probe_results').selectAll().where('probe_id', '=', id).orderBy('id').execute()

/** Claims what is due, lets it run to its end and writes the results. */
export async function runDue({ probes }: Pick<ProbeNode, 'probes'>): Promise<void> {
  const { scheduler } = probes
  await scheduler.claim()
  while (scheduler.active > 0) {
    await new Promise((resolve) => setImmediate(resolve))
    await scheduler.write()
  }
}
