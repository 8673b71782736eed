import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import {
  DATA_VOLUME_DEFAULTS,
  doublingCandidates,
  hasBrokenOff,
  hourLimits,
  dataVolume as judgeVolume,
  type OpenFall,
  type OpenFalls,
  openFalls,
  type Verdict,
  type VolumeSoFar,
  volumeSoFar,
} from '../../detection/index.ts'
import { counted, duration, MINUTE, number, storable } from '../../lib/index.ts'
import { lastEventAt } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { readEventRepeats } from '../counts/event-repeats.ts'
import { expectedCounts } from '../counts/expected-counts.ts'
import { withHint } from '../counts/judge-counts.ts'
import { judgeEvents } from '../counts/site-events.ts'
import { learning, learningHour, learningHours, noData } from '../counts/unjudged.ts'
import { defineProbeType, type JsonObject } from '../probe-type.ts'
import { subjectKey } from '../result.ts'

const Config = Type.Object(
  {
    direction: Type.Enum(['down', 'up', 'both'], {
      default: DATA_VOLUME_DEFAULTS.direction,
      description: 'Which deviations are bad; others are only listed in the details',
    }),
    weeks: Type.Integer({
      minimum: 2,
      maximum: 8,
      default: DATA_VOLUME_DEFAULTS.weeks,
      description: 'Number of past weeks that define what is usual; until so many are known, the available days do',
    }),
    false_alarms: Type.Number({
      minimum: 0.001,
      maximum: 100,
      default: DATA_VOLUME_DEFAULTS.false_alarms,
      description:
        'About how many false alarms are accepted in 30 days, for the site and all its events together: more mean earlier alerts, fewer mean more certain ones',
    }),
    min_expected: Type.Number({
      minimum: 1,
      maximum: 10_000,
      default: DATA_VOLUME_DEFAULTS.min_expected,
      description: 'Silence is critical only once this many visits or batches were expected',
    }),
    warning_z: Type.Number({
      minimum: 1,
      maximum: 20,
      default: DATA_VOLUME_DEFAULTS.warning_z,
      description:
        'A deviation that chance does not explain is a warning only if it is this many standard deviations off',
    }),
    warning_ratio: Type.Number({
      minimum: 0.05,
      maximum: 0.95,
      default: DATA_VOLUME_DEFAULTS.warning_ratio,
      description:
        'A deviation is a warning only if the count is below this share of what is expected (or above its inverse)',
    }),
    doubled: Type.Boolean({
      default: DATA_VOLUME_DEFAULTS.doubled,
      description:
        'An event that arrives two or three times as often as its visits explain is a warning, whatever the direction: a tag may fire twice',
    }),
  },
  { additionalProperties: false },
)
type Config = Static<typeof Config>

export const dataVolume = defineProbeType({
  name: 'data_volume',
  title: 'Data volume',
  description:
    "Whether the site's events, all together and each by name, arrive as often as is usual at this hour of the week.",
  kind: 'data',
  siteFields: ['timezone'],
  needs: [],
  config: Config,
  defaultIntervalSeconds: 300,
  async run({ site, probe, config, memory, now, store }) {
    let brokeOffAt = typeof memory.broke_off_at === 'number' ? memory.broke_off_at : null
    // During a pause no one looked, and a fall may have ended.
    const known: OpenFalls = probe.recent_statuses === '' ? new Map() : fallsIn(memory, config)
    let open = await withoutResolved(store, probe.id, known)
    let silentFrom: number | null = null
    let last: number | null = null
    const judged = await judgeEvents(
      { store, site, now },
      { weeks: config.weeks, byName: true },
      async (events) => {
        const candidates = doublingCandidates(events, config)
        const repeats = await readEventRepeats({ store, site, now }, events.end, candidates)
        const verdict = judgeVolume({ ...events, repeats, brokeOffAt, open }, config)
        open = openFalls(verdict, open, events.usual)
        if (hasBrokenOff(verdict)) brokeOffAt = events.end
        silentFrom = silenceIn(verdict)
        if (silentFrom !== null || verdict.details.judged === 0) last = await lastEventAt(store.read, site.site_no)
        return verdict
      },
      ({ recent, usual, knownFrom, end }) => {
        if (last === null) return noData('No event has arrived yet')
        const hours = learningHours(knownFrom, end, site.timezone)
        if (hours !== undefined) return hours
        const soFar = volumeSoFar({ recent, usual }, config)
        return soFar === null ? learningHour(usual, end, site.timezone) : learning(tooFew(soFar))
      },
      'warning',
    )
    const outcome = { ...judged, memory: memoryOf(brokeOffAt, open, config) }
    // Events are counted at the sender's time: when the last hours have none, some may still have arrived.
    if (silentFrom === null || outcome.isRefused === true || last === null) return outcome
    const ago = now - last
    // A last event in the future shows only that our clock was set back.
    if (ago < 0 || ago > JUST_MS || last < silentFrom + ON_ITS_WAY_MS) return outcome
    return withHint(outcome, `but one arrived ${duration(ago)} ago: the sender's clock is behind, or it sends late`)
  },
  expectation: (asked) =>
    expectedCounts(asked, asked.config.weeks, asked.config.direction, (usual) =>
      hourLimits(asked.eventName, usual, asked.config),
    ),
})

/** Hundreds of events that fall at once are the site. */
const MOST_FALLS = 100

function memoryOf(brokeOffAt: number | null, open: OpenFalls, config: Config): JsonObject {
  const falls = [...open].slice(0, MOST_FALLS).map(([name, fall]) => ({ name, ...fall, hourly: fall.hourly ?? null }))
  return {
    ...(brokeOffAt === null ? {} : { broke_off_at: brokeOffAt }),
    ...(falls.length === 0 ? {} : { falls, config }),
  }
}

/** The falls that the last run found with the same settings: with others, what it found may be no fall. */
function fallsIn({ falls, config }: JsonObject, now: Config): OpenFalls {
  if (!Array.isArray(falls) || !isDeepStrictEqual(config, now)) return new Map()
  return new Map((falls as unknown as Fall[]).map(({ name, ...fall }) => [name, fall] as const))
}

/** Leaves out the falls whose alert was resolved by hand since they began: they would open another at once, although counts need not show any. */
async function withoutResolved({ read }: Pick<Store, 'read'>, probeId: string, falls: OpenFalls): Promise<OpenFalls> {
  if (falls.size === 0) return falls
  const rows = await read
    .selectFrom('alerts')
    .select(({ fn }) => ['subject', fn.max<number>('resolved_at').as('at')])
    .where('probe_id', '=', probeId)
    .where('resolution', '=', 'manual')
    .groupBy('subject')
    .execute()
  const resolvedAt = new Map(rows.map(({ subject, at }) => [subject, at]))
  const keyOf = (name: string | null) => storable(subjectKey(name === null ? {} : { event_name: name }))
  return new Map([...falls].filter(([name, { since }]) => since > (resolvedAt.get(keyOf(name)) ?? 0)))
}

interface Fall extends OpenFall {
  readonly name: string | null
}

/** A site that still sends had its last event at most this long ago. */
const JUST_MS = 5 * MINUTE
/** Events that arrive this soon after a silence began may have been sent before it. */
const ON_ITS_WAY_MS = 2 * MINUTE

/** Since when the site has had no event at all, epoch ms; null when that is not critical. */
function silenceIn({ details }: Verdict): number | null {
  const silence = details.findings.find(
    ({ subject, status, measured }) => subject.event_name === undefined && status === 'critical' && measured === 0,
  )
  return silence?.since == null ? null : Date.parse(silence.since)
}

/** E.g. `3 events in 24 h, usually 3; judging starts once 75 are usual`. */
const tooFew = ({ covered, events, usual, needed }: VolumeSoFar): string =>
  `${counted(events, 'event')} in ${duration(covered)}, usually ${number(usual)}; judging starts once ${number(needed)} are usual`
