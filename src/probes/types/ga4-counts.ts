import {
  AppError,
  capitalised,
  duration,
  HOUR,
  isoTime,
  isoTimeOrNull,
  namesInWords,
  number,
  storable,
} from '../../lib/index.ts'
import { localMoment, noData } from '../counts/unjudged.ts'
import { type EventCounts, ofPartsOfHours, ofWholeHours, type Reports, settledCounts } from '../ga4-counts/counts.ts'
import { askedAt, minuteOfHours } from '../ga4-counts/hours.ts'
import { type Memory, readMemory, writtenMemory } from '../ga4-counts/memory.ts'
import { type Pause, pauseAfter, pauseAfterRefusal } from '../ga4-counts/quota.ts'
import {
  allCaveats,
  areInexact,
  type Caveats,
  caveatWords,
  type Ga4Report,
  type Minutes,
  questionOf,
  readReport,
} from '../ga4-counts/report.ts'
import { Config, checkConfig, eventsOf, type Settings, TYPE_NAME } from '../ga4-counts/settings.ts'
import { runReport } from '../google/analytics.ts'
import { GoogleFailure } from '../google/failure.ts'
import { serviceAccountOf } from '../google/service-account.ts'
import { defineProbeType, type ProbeContext, type ProbeOutcome } from '../probe-type.ts'

export const ga4Counts = defineProbeType({
  name: TYPE_NAME,
  title: 'Counts from GA4',
  description:
    "Fetches Google Analytics' counts of the site's events as reference counts, for “Comparison with the shop” to judge. It only judges whether they can be fetched.",
  kind: 'wire',
  siteFields: ['analytics_property_id', 'timezone'],
  needs: [['analytics_property_id']],
  // Only people know which events to compare, and whether a service account may read the property.
  autoNeeds: null,
  config: Config,
  checkConfig,
  defaultIntervalSeconds: 21_600,
  minIntervalSeconds: 3_600,
  async run(context: ProbeContext<Settings>): Promise<ProbeOutcome> {
    const memory = readMemory(context.memory, propertyOf(context), context.now)
    try {
      return memory.pause === null ? await fetchCounts(context, memory) : paused(context, memory.pause)
    } catch (thrown) {
      if (thrown instanceof GoogleFailure) return failed(context, memory, thrown)
      // The site already has its largest number of sources or events.
      if (thrown instanceof AppError && thrown.code === 'conflict') {
        return { status: 'error', message: thrown.message, details: { ...factsOf(context), reason: 'no_room' } }
      }
      throw thrown
    }
  },
})

const propertyOf = ({ site }: Pick<ProbeContext<Settings>, 'site'>): string => site.analytics_property_id ?? ''

const factsOf = (context: ProbeContext<Settings>) => ({
  property_id: propertyOf(context),
  source: context.config.source,
})

async function fetchCounts(context: ProbeContext<Settings>, memory: Memory): Promise<ProbeOutcome> {
  const { config, settings, now } = context
  const propertyId = propertyOf(context)
  const account = serviceAccountOf(settings)
  const asked = askedAt(now, config)
  const events = eventsOf(config)
  const ga4Names = [...new Set(events.map(({ ga4 }) => ga4))]
  let tookMs = 0
  const ask = async (minutes?: Minutes): Promise<Ga4Report> => {
    const answer = await runReport(
      account,
      settings.ga4ApiUrl,
      propertyId,
      questionOf(ga4Names, asked, minutes),
      context,
    )
    tookMs += answer.tookMs
    return readReport(answer.json, ga4Names.length * asked.hoursMax)
  }
  const { reports, report } = await reportsOf(ask, asked.from)
  const settled = settledCounts(reports, asked, {
    source: storable(config.source),
    events,
    known: memory.known,
  })
  const refusal = notUsable(report.caveats, context)
  const written = refusal === null ? await context.writeReferences(settled.counts) : 0
  const shown = settled.events.filter(({ isKnown }) => isKnown).map(({ ga4 }) => ga4)
  const pause = pauseAfter(report.quotas, now)
  const newest = settled.newest === null ? null : settled.newest + HOUR
  const facts = {
    ...factsOf(context),
    timezone: report.timezone,
    from: isoTime(asked.from),
    until: isoTime(asked.until),
    newest_until: isoTimeOrNull(newest),
    counts: settled.counts.length,
    counts_written: written,
    hours_left_out: settled.leftOut,
    events: settled.events.map(({ name, ga4, total, hours, isKnown }) => ({
      event_name: name,
      ga4_name: ga4,
      counted: isKnown ? total : null,
      hours,
    })),
    caveats: report.caveats,
    quota_left: report.quotas,
    paused_until: isoTimeOrNull(pause?.until ?? null),
  }
  const outcome = refusal ?? judged(settled.events, newest, context)
  return {
    ...outcome,
    message: [outcome.message, caveatWords(report.caveats), pause === null ? '' : pauseWords(pause, context)]
      .filter((words) => words !== '')
      .join('. '),
    details: { ...facts, ...outcome.details },
    memory: writtenMemory({ known: shown, pause: pause === null ? null : { ...pause, isRefusal: false } }, propertyId),
    responseTimeMs: tookMs,
  }
}

/**
 * Fetches one report if the property's hours are UTC hours. Otherwise two more are needed, for the parts of each hour that lie in one UTC hour and
 * in the next. Only the first answer tells which.
 *
 * @returns the reports, and the newest of them with the caveats of all
 */
async function reportsOf(
  ask: (minutes?: Minutes) => Promise<Ga4Report>,
  from: number,
): Promise<{ reports: Reports; report: Ga4Report }> {
  const whole = await ask()
  const minute = minuteOfHours(whole.timezone, from)
  if (minute === 0) return { reports: ofWholeHours(whole), report: whole }
  const ends = await ask({ from: minute, to: 60 })
  const beginnings = await ask({ from: 0, to: minute })
  return {
    reports: ofPartsOfHours(ends, beginnings, minute),
    report: { ...beginnings, caveats: allCaveats(ends.caveats, beginnings.caveats) },
  }
}

/** Returns the reason when nothing of a report can be written, or null. */
function notUsable(caveats: Caveats, context: ProbeContext<Settings>): ProbeOutcome | null {
  if (!context.config.exact_only || !areInexact(caveats)) return null
  const message = `Nothing was written because the counts of property ${propertyOf(context)} are not exact; turn exact_only off to accept them`
  return { status: 'error', message, details: { reason: 'inexact' } }
}

function judged(events: readonly EventCounts[], newest: number | null, context: ProbeContext<Settings>): ProbeOutcome {
  const { config, now, site } = context
  const property = propertyOf(context)
  const unknown = events
    .filter(({ isKnown }) => !isKnown)
    .map(({ name, ga4 }) => (name === ga4 ? name : `${name}=${ga4}`))
  const known = events.filter(({ isKnown }) => isKnown)
  const days = `${config.days} ${config.days === 1 ? 'day' : 'days'}`
  const question = unknown.length === 1 ? 'is that its name in GA4?' : 'are those their names in GA4?'
  const missing = `property ${property} has no ${namesInWords(unknown)} in ${days}: ${question}`
  if (known.length === 0 || newest === null) {
    const said = known.length === 0 ? capitalised(missing) : `Property ${property} has no settled hour yet`
    return { status: 'ok', ...noData(said), details: {} }
  }
  const counted = known.map(({ name, total }) => `${number(total)} “${name}”`)
  const shown = [...counted.slice(0, 3), ...(counted.length > 3 ? [`${counted.length - 3} more events`] : [])].join(
    ', ',
  )
  const fetched = `“${config.source}” counted ${shown} in ${days} until ${localMoment(newest, site.timezone)}, ${duration(now - newest)} ago`
  return { status: 'ok', message: unknown.length === 0 ? fetched : `${fetched}; ${missing}`, details: {} }
}

const pauseWords = ({ until, words }: Pause, { site }: ProbeContext<Settings>): string =>
  `Property ${propertyOf({ site })} has ${words}: to leave the rest to its dashboards, no request is sent before ${localMoment(until, site.timezone)}`

function paused(context: ProbeContext<Settings>, pause: NonNullable<Memory['pause']>): ProbeOutcome {
  const details = { ...factsOf(context), paused_until: isoTime(pause.until) }
  if (!pause.isRefusal) return { status: 'ok', ...noData(pauseWords(pause, context)), details }
  const message = `${quotaWords(context)}: no request is sent before ${localMoment(pause.until, context.site.timezone)}`
  return { status: 'error', message, details: { ...details, reason: 'quota' } }
}

const quotaWords = (context: ProbeContext<Settings>): string =>
  `The quota of property ${propertyOf(context)} at the Google Analytics Data API is used up`

function failed(context: ProbeContext<Settings>, memory: Memory, failure: GoogleFailure): ProbeOutcome {
  const { reason, facts, message } = failure
  const isQuota = reason === 'quota'
  const pause = isQuota ? pauseAfterRefusal(facts.said ?? '', context.now) : null
  const until = pause && localMoment(pause.until, context.site.timezone)
  return {
    status: 'error',
    message: isQuota ? `${quotaWords(context)} (${facts.status}): no request is sent before ${until}` : message,
    details: { ...factsOf(context), reason, status: facts.status ?? null, said: facts.said ?? null },
    isNetworkFailure: facts.isNetworkFailure === true,
    ...(pause === null
      ? {}
      : { memory: writtenMemory({ ...memory, pause: { ...pause, isRefusal: true } }, propertyOf(context)) }),
  }
}
