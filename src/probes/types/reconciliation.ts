import { Type } from 'typebox'
import { CAPTURED_DEFAULTS, type CapturedDay, canJudge, capturedShare } from '../../detection/index.ts'
import { counted, DAY, duration, floorTo, HOUR, isoTime, number, percent } from '../../lib/index.ts'
import {
  type ComparedDay,
  compareDays,
  EventName,
  fitTimeShift,
  newestReference,
  offsetsOf,
  readSeries,
  SourceName,
  shiftInWords,
  withShifts,
} from '../../reconciliation/index.ts'
import { localDays } from '../../uptime/index.ts'
import { judgeCounts } from '../counts/judge-counts.ts'
import { learning, noData, type Unjudged } from '../counts/unjudged.ts'
import { type FetchedSource, fetchedSource } from '../ga4-counts/settings.ts'
import { defineProbeType, type ProbeOutcome } from '../probe-type.ts'

/** How long after its end a day is judged: events arrive late, and so do a day's last orders in an export. */
const SETTLED_AFTER_MS = 2 * HOUR

export const reconciliation = defineProbeType({
  name: 'reconciliation',
  title: 'Comparison with the shop',
  description:
    "Whether what another system counted, such as the shop's orders, is counted here too. Needs reference counts of the site.",
  kind: 'data',
  siteFields: ['timezone'],
  needs: [],
  autoNeeds: null,
  config: Type.Object(
    {
      source: SourceName,
      event: EventName,
      min_captured_percent: Type.Number({
        minimum: 1,
        maximum: 100,
        default: CAPTURED_DEFAULTS.min_captured_percent,
        description:
          'Significantly less than this share of what the source counted is a warning, significantly less than half of it critical',
      }),
      max_captured_percent: Type.Number({
        minimum: 100,
        maximum: 1_000,
        default: CAPTURED_DEFAULTS.max_captured_percent,
        description:
          'Significantly more is a warning, with 2 % allowed for events around midnight: some are counted twice here, or missing there',
      }),
      days: Type.Integer({
        minimum: 1,
        maximum: 30,
        default: 7,
        description:
          'Days to look back, without today. As many of them as it takes to have 100 counts of the source are judged together',
      }),
      max_age_hours: Type.Integer({
        minimum: 1,
        maximum: 720,
        default: 48,
        description:
          'The check cannot run when the newest count of the source is older; for a source that a probe fetches, the time it takes to settle is added',
      }),
    },
    { additionalProperties: false },
  ),
  figure: percent,
  defaultIntervalSeconds: 3_600,
  async run({ site, config, now, store }): Promise<ProbeOutcome> {
    const { source, event } = config
    const fetched = await fetchedSource(store, site, source)
    const missing = notUsable(await newestReference(store.reports, site.site_no, config), config, fetched, now)
    if (missing !== null) return missing
    const until = floorTo(now, HOUR)
    // The last day is not over, or has not been for long.
    const days = localDays(site.timezone, now - SETTLED_AFTER_MS, config.days + 1).slice(0, -1)
    const range = { from: days[0]?.from ?? until - DAY, to: days.at(-1)?.to ?? until }
    let compared: ComparedDay[] = []
    let hint: string | null = null
    const outcome = await judgeCounts(
      { store, site, now },
      withShifts(range).from,
      (snapshot) => readSeries(snapshot, site, config, range, until),
      (series) => {
        compared = compareDays(days, series, until)
        hint = hintOf(compared, shiftInWords(fitTimeShift(series, until), site.timezone, offsetsOf(days)), config)
        return capturedShare({ days: judgedDays(compared), source, event, hint }, config)
      },
      () => unjudged(judgedDays(compared), config),
    )
    return { ...outcome, details: { ...outcome.details, hint, days: compared.map(dayFacts) } }
  },
})

interface Settings {
  source: string
  event: string
  min_captured_percent: number
  max_captured_percent: number
  days: number
  max_age_hours: number
}

/** Returns why the check cannot run, or null. */
function notUsable(
  newest: number | null,
  { source, event, max_age_hours }: Settings,
  fetched: FetchedSource | null,
  now: number,
): ProbeOutcome | null {
  if (newest === null) {
    const remedy =
      fetched === null ? "upload them on the site's setup page" : `the probe “${fetched.probe}” has fetched none`
    return {
      status: 'error',
      message: `There are no reference counts of “${event}” from “${source}”: ${remedy}`,
      details: { reason: 'no_reference', source, event },
    }
  }
  const age = now - (newest + HOUR)
  if (age <= max_age_hours * HOUR + (fetched?.settledAfterMs ?? 0)) return null
  const last = `no count of “${event}” of the last ${duration(age)}`
  return {
    status: 'error',
    message:
      fetched === null
        ? `“${source}” has sent ${last}: its export has stopped`
        : `“${source}” has ${last}: look at the probe “${fetched.probe}”, which fetches them`,
    details: { reason: 'reference_stale', source, event, newest_hour: isoTime(newest) },
  }
}

const judgedDays = (days: readonly ComparedDay[]): CapturedDay[] =>
  days.filter(({ comparedHours }) => comparedHours > 0)

/** Returns a possible explanation of a difference, or null. */
function hintOf(days: readonly ComparedDay[], shift: string | null, { event }: Settings): string | null {
  const isCounted = days.some(({ counted, countedInMissing }) => counted + countedInMissing > 0)
  return isCounted ? shift : `No event “${event}” arrived in ${counted(days.length, 'day')}: is that its name here?`
}

function unjudged(days: readonly CapturedDay[], config: Settings): Unjudged {
  const { source, event } = config
  if (days.length === 0) return noData(`“${source}” has no count of “${event}” for a past day`)
  const reference = days.reduce((sum, day) => sum + day.reference, 0)
  if (!canJudge(days, config)) {
    return learning(
      `“${source}” counted ${number(reference)} “${event}” in ${counted(days.length, 'day')}, too few to judge`,
    )
  }
  return noData(`There is nothing to compare with “${source}”`)
}

const dayFacts = ({ day, reference, counted, comparedHours, missingHours, unknownHours }: ComparedDay) => ({
  day,
  reference: comparedHours === 0 ? null : reference,
  counted: comparedHours === 0 ? null : counted,
  missing_hours: missingHours,
  unknown_hours: unknownHours,
})
