import { type Static, Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { counted, type ErrorDetail } from '../../lib/index.ts'
import { outcomeOfVerdict } from '../counts/judge-counts.ts'
import { noData } from '../counts/unjudged.ts'
import { askQuality, type DatasetQuality } from '../meta-quality/ask.ts'
import { MetaFailure } from '../meta-quality/failure.ts'
import { judgeQuality } from '../meta-quality/judge.ts'
import { defineProbeType, type ProbeContext, type ProbeOutcome, RequiredSecret } from '../probe-type.ts'

const matchQuality = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 10, default: byDefault, description })
const coveragePercent = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 100, default: byDefault, description })

const Config = Type.Object(
  {
    dataset_id: Type.String({
      pattern: '^[0-9]{5,20}$',
      [EXPECTS]: 'an ID of 5 to 20 digits',
      description: 'Dataset (pixel) ID, the number in Events Manager, e.g. 1234567890123456',
    }),
    access_token: RequiredSecret(
      'Access token of a system user that may read the dataset (ads_read with ads_management or business_management)',
    ),
    events: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 50,
      default: [],
      description: 'Events to judge, by their names at Meta (Purchase, Lead); empty = all',
    }),
    warning_match_quality: matchQuality(6, 'Warn when the match quality of an event is below this, of 10'),
    critical_match_quality: matchQuality(4, 'Critical when it is below this, of 10'),
    warning_coverage_percent: coveragePercent(
      50,
      "Warn when the server sends less than this percentage of the browser's events over 7 days; 0 = not judged",
    ),
    critical_coverage_percent: coveragePercent(0, 'Critical when it sends less than this; 0 = never'),
    slowest_upload: Type.Enum(['real_time', 'hourly', 'daily', 'any'], {
      default: 'hourly',
      description: 'Warn when Meta receives an event less often than this; any = not judged',
    }),
  },
  { additionalProperties: false },
)

type Settings = Static<typeof Config>

export const metaQuality = defineProbeType({
  name: 'meta_quality',
  title: 'Meta data quality',
  description:
    "How Meta rates the server's events in its Dataset Quality API: match quality, coverage of the browser's events, and freshness.",
  kind: 'wire',
  siteFields: [],
  needs: [],
  // No field of a site names a dataset, and only people can provide a token.
  autoNeeds: null,
  config: Config,
  checkConfig,
  figure: (value, write, { field }) => (field === 'coverage' ? `${write(value)} %` : `${write(value)} of 10`),
  defaultIntervalSeconds: 3_600,
  minIntervalSeconds: 600,
  async run(context: ProbeContext<Settings>): Promise<ProbeOutcome> {
    const { config, settings } = context
    const { dataset_id: datasetId, access_token: token } = config
    try {
      const quality = await askQuality(context, { apiUrl: settings.metaApiUrl, datasetId, token })
      return outcomeOf(quality, config)
    } catch (thrown) {
      if (!(thrown instanceof MetaFailure)) throw thrown
      const { reason, facts, message } = thrown
      const { status = null, code = null, subcode = null } = facts
      return {
        status: 'error',
        message,
        details: { reason, dataset_id: datasetId, status, code, subcode },
        isNetworkFailure: facts.isNetworkFailure === true,
      }
    }
  },
})

/** Of the 16,000 characters that `details` may have. */
const DETAILS_ROOM = 15_500

function outcomeOf({ events, notOffered, tookMs }: DatasetQuality, config: Settings): ProbeOutcome {
  const { missing, unknown, ...verdict } = judgeQuality(events, config)
  const outcome = outcomeOfVerdict(verdict, () => noData(nothingText(config, events.length)))
  const details = {
    ...outcome.details,
    dataset_id: config.dataset_id,
    events_known: events.length,
    fields_not_offered: notOffered,
  }
  const shown = events.map(({ name, matchQuality: quality, coveragePercent: coverage, upload }) => ({
    event_name: name,
    match_quality: quality,
    coverage_percent: coverage,
    upload_frequency: upload,
  }))
  const lists = { events: shown, not_judged: missing, unknown_events: unknown }
  return { ...outcome, details: withWhatFits(details, lists), responseTimeMs: tookMs }
}

function nothingText({ events, dataset_id: id }: Settings, known: number): string {
  if (known === 0) return `Meta knows no web event of dataset ${id} yet: it shows them once some have arrived`
  return events.length === 0
    ? `Meta reports neither match quality nor coverage nor freshness of the ${counted(known, 'event')} of dataset ${id}`
    : `Meta reports nothing about ${events.join(', ')} in dataset ${id}: it knows ${counted(known, 'event')} by ${known === 1 ? 'another name' : 'other names'}`
}

/** Adds as much of each list as fits, in the order of the lists. */
function withWhatFits(
  details: Readonly<Record<string, unknown>>,
  lists: Readonly<Record<string, readonly unknown[]>>,
): Record<string, unknown> {
  const fitted: Record<string, unknown> = { ...details }
  for (const [name, list] of Object.entries(lists)) {
    let room = DETAILS_ROOM - JSON.stringify(fitted).length - name.length - 6
    fitted[name] = list.filter((entry) => {
      room -= JSON.stringify(entry).length + 1
      return room >= 0
    })
  }
  return fitted
}

/** Only catches mistakes: Meta's shortest tokens have more than 100 characters. */
const TOKEN_MIN = 20

function checkConfig(config: Settings): readonly ErrorDetail[] {
  const { access_token: token } = config
  return [
    ...(token.length >= TOKEN_MIN && /^[\x21-\x7e]+$/.test(token)
      ? []
      : [{ path: '/access_token', message: `must be ${TOKEN_MIN} or more visible ASCII characters, without spaces` }]),
    ...(config.critical_match_quality <= config.warning_match_quality
      ? []
      : [{ path: '/critical_match_quality', message: 'must not be above warning_match_quality' }]),
    ...(config.critical_coverage_percent <= config.warning_coverage_percent
      ? []
      : [{ path: '/critical_coverage_percent', message: 'must not be above warning_coverage_percent' }]),
  ]
}
