import { Temporal } from 'temporal-polyfill'
import { fieldsOf, HOUR, isObject, number } from '../../lib/index.ts'
import { wholeNumberOf } from '../google/failure.ts'

/**
 * Below these rests of a property's quotas, nothing more is requested: about a tenth of what Google grants a standard
 * property, so that the owner's reports and dashboards, which share them, keep working. Concurrent requests and server errors
 * are limited to 10. https://developers.google.com/analytics/devguides/reporting/data/v1/quotas
 */
const RESERVES = {
  tokensPerDay: 20_000,
  tokensPerHour: 4_000,
  tokensPerProjectPerHour: 1_400,
  concurrentRequests: 2,
  serverErrorsPerProjectPerHour: 3,
} as const

type QuotaName = keyof typeof RESERVES
const NAMES = Object.keys(RESERVES) as QuotaName[]

const WORDS: Readonly<Record<QuotaName, string>> = {
  tokensPerDay: 'tokens of the day',
  tokensPerHour: 'tokens of the hour',
  tokensPerProjectPerHour: "tokens of the hour for Tagwarden's Google Cloud project",
  concurrentRequests: 'requests at a time',
  serverErrorsPerProjectPerHour: 'server errors of the hour',
}

/** What is left of each quota, without those that Google did not report. */
export type Quotas = Readonly<Partial<Record<QuotaName, number>>>

/** @param propertyQuota from the answer */
export function readQuotas(propertyQuota: unknown): Quotas {
  const quotas = fieldsOf(propertyQuota)
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const quota = quotas[name]
      if (!isObject(quota)) return []
      // Google omits numbers that are 0.
      const left = quota.remaining === undefined ? 0 : wholeNumberOf(quota.remaining)
      return left === null || left < 0 ? [] : [[name, left]]
    }),
  )
}

/** Until when nothing is requested, and why. */
export interface Pause {
  /** Epoch ms. */
  until: number
  /** For people, follows “has”: `1,200 tokens of the day left`. */
  words: string
}

/** Returns the pause that low quotas require; null when enough is left. */
export function pauseAfter(quotas: Quotas, now: number): Pause | null {
  const low = NAMES.find((name) => (quotas[name] ?? Number.POSITIVE_INFINITY) < RESERVES[name])
  if (low === undefined) return null
  const until = low === 'tokensPerDay' ? nextDayOfQuotas(now) : now + HOUR
  return { until, words: `${number(quotas[low] ?? 0)} ${WORDS[low]} left` }
}

/** The pause after a refusal. Google says only in words which quota is used up: “Exhausted property tokens per day. …” */
export const pauseAfterRefusal = (said: string, now: number): Pause => ({
  until: /per day|24 hours/i.test(said) ? nextDayOfQuotas(now) : now + HOUR,
  words: 'used up its quota',
})

/** Daily quotas reset at midnight in California. */
const nextDayOfQuotas = (now: number): number =>
  Temporal.Instant.fromEpochMilliseconds(now)
    .toZonedDateTimeISO('America/Los_Angeles')
    .toPlainDate()
    .add({ days: 1 })
    .toZonedDateTime('America/Los_Angeles').epochMilliseconds
