import type { TestContext } from 'node:test'
import type { Finding } from '../../../src/detection/index.ts'
import type { Payload } from '../../../src/journal/payload.ts'
import { MINUTE } from '../../../src/lib/index.ts'
import type { ProbeType } from '../../../src/probes/index.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { NOW, TestClock } from '../../../testkit/clock.ts'
import { rollUpAll } from '../../../testkit/counts.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { count } from '../../analytics/support.ts'
import { openNode, resultsOf, runDue } from '../support.ts'

export const SLOT = 5 * MINUTE

/** Times from `from` until before `to`, `step` apart. */
export const every = (step: number, from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index) => from + index * step)

/** A site that received these payloads, each at its own time, with everything rolled up that is due at `NOW`. */
export async function siteWith(
  store: Store,
  payloads: readonly Payload[],
  over: Partial<SiteRow> = {},
): Promise<SiteRow> {
  const site = await insertSite(store, over)
  await count(store, site, payloads)
  await rollUpAll(store, NOW)
  return site
}

export interface DataResult {
  status: string
  reason: string | null
  message: string
  details: {
    findings: Finding[]
    judged: number
    left_out: number
    reason?: string
    complete_until?: string
    refused?: { why: string; since: string; requests: number }
  }
}

/** The result of a run at `NOW`, or another time, as it is stored. */
export async function resultOf(
  t: TestContext,
  store: Store,
  site: SiteRow,
  type: ProbeType,
  config: object = {},
  now = NOW,
): Promise<DataResult> {
  const probe = await insertProbe(store, site.id, {
    probe_type: type.name,
    config: JSON.stringify(config),
    next_run_at: now,
  })
  await runDue(await openNode(t, store, new TestClock(now), [type]))
  const [result] = await resultsOf(store, probe.id)
  if (result === undefined) throw new Error('the probe has no result')
  return { status: result.status, reason: result.reason, message: result.message, details: JSON.parse(result.details) }
}
