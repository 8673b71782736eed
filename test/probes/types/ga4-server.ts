import type { TestContext } from 'node:test'
import type { ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { ga4Counts } from '../../../src/probes/types/ga4-counts.ts'
import type { ReferenceCount } from '../../../src/reconciliation/index.ts'
import { type GoogleServer, googleServer, type ReceivedRequest, type Reply } from './google-server.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

export const SCOPE = 'https://www.googleapis.com/auth/analytics.readonly'
export const PROPERTY = '123456789'

/** What is left of a standard property's quotas on a quiet day. */
export const QUOTA = {
  tokensPerDay: { consumed: 9, remaining: 199_000 },
  tokensPerHour: { consumed: 9, remaining: 39_900 },
  concurrentRequests: { consumed: 0, remaining: 10 },
  serverErrorsPerProjectPerHour: { consumed: 0, remaining: 10 },
  potentiallyThresholdedRequestsPerHour: { consumed: 0, remaining: 120 },
  tokensPerProjectPerHour: { consumed: 9, remaining: 13_900 },
}

export const rowOf = (event: unknown, hour: unknown, count: unknown) => ({
  dimensionValues: [{ value: event }, { value: hour }],
  metricValues: [{ value: count }],
})

/** A report as the Data API answers it; rows of `[event, dateHour, count]`. `over` replaces parts of it. */
export function reportOf(rows: readonly (readonly [string, string, number])[], over: object = {}): Reply {
  return {
    json: {
      dimensionHeaders: [{ name: 'eventName' }, { name: 'dateHour' }],
      metricHeaders: [{ name: 'eventCount', type: 'TYPE_INTEGER' }],
      // Google leaves out lists that are empty, and numbers that are 0.
      ...(rows.length === 0 ? {} : { rows: rows.map((row) => rowOf(row[0], row[1], String(row[2]))) }),
      ...(rows.length === 0 ? {} : { rowCount: rows.length }),
      metadata: { currencyCode: 'EUR', timeZone: 'Europe/Berlin' },
      propertyQuota: QUOTA,
      kind: 'analyticsData#runReport',
      ...over,
    },
  }
}

export interface Ga4Run {
  google: GoogleServer
  outcome: ProbeOutcome
  written: readonly ReferenceCount[]
}

interface Given extends Partial<RunGiven> {
  google?: GoogleServer
}

/** Runs the probe once against a Data API that answers so. */
export async function runGa4(
  t: TestContext,
  answer: (asked: ReceivedRequest) => Reply | undefined,
  given: Given = {},
): Promise<Ga4Run> {
  const google = given.google ?? (await googleServer(t, SCOPE, answer))
  const written: ReferenceCount[] = []
  const outcome = await runType(t, ga4Counts, {
    site: siteRow({ analytics_property_id: PROPERTY, timezone: 'Europe/Berlin' }),
    writeReferences: (counts) => {
      written.push(...counts)
      return Promise.resolve(counts.length)
    },
    ...given,
    config: { events: ['purchase'], ...given.config },
    settings: { ga4ApiUrl: google.url, googleCredentials: google.credentials, ...given.settings },
  })
  return { google, outcome, written }
}
