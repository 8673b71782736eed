import { median, quantile } from '../lib/statistics.ts'
import { markdownTable } from '../lib/table.ts'
import { intervalOf } from './bootstrap.ts'
import { COUNT_KINDS, FAULT_KINDS, type FaultKind, SIGNAL_KINDS } from './faults.ts'
import { HARD, type JudgedFault, PROBES_OF, type SiteOutcome } from './score.ts'
import { SLOT, SLOTS_A_DAY } from './world.ts'

const DAYS_A_MONTH = 30
const MINUTES_A_SLOT = SLOT / 60_000
/** Of what comes less often in five minutes, some minutes of silence prove little. */
const FREQUENT = 10
/** What usually comes at least so often in five minutes, and less often than the one before. */
const RARITIES = [FREQUENT, 3, 1, 0] as const

export const TARGETS = { detected: 0.95, hardMinutes: 8, falseAlarms: 0.3, falseAlarmsOfSignal: 0.05 } as const

/** Results of the sites of each seed as Markdown. */
export function tables(bySeed: ReadonlyMap<number, readonly SiteOutcome[]>): string {
  const all = [...bySeed.values()].flat()
  if (hasSignals(all)) return [signalSummary(all), faultTable(all), alarmTable(all), ...causeTable(all)].join('\n\n')
  return [
    summary(all),
    ...(bySeed.size > 1 ? [seedTable(bySeed)] : []),
    hardTable(all),
    faultTable(all),
    alarmTable(all),
    ...causeTable(all),
    baselineTable(all),
  ].join('\n\n')
}

/** Whether these sites had the faults of signals, rather than those of counts. */
const hasSignals = (outcomes: readonly SiteOutcome[]): boolean =>
  outcomes.some(({ faults }) => faults.some(({ fault }) => SIGNAL_KINDS.some((kind) => kind === fault.kind)))

const kindsIn = (outcomes: readonly SiteOutcome[]): readonly FaultKind[] =>
  hasSignals(outcomes) ? SIGNAL_KINDS : COUNT_KINDS
const probesIn = (outcomes: readonly SiteOutcome[]): string[] => [
  ...new Set(kindsIn(outcomes).flatMap((kind) => PROBES_OF[kind])),
]

/** The worst of them decides, as each probe is added by itself. */
function signalSummary(outcomes: readonly SiteOutcome[]): string {
  const detected = (sample: readonly SiteOutcome[]) => figuresOf(sample).detected
  const most = (sample: readonly SiteOutcome[]) =>
    Math.max(...probesIn(outcomes).map((probe) => alarmsOf(sample, probe).length / siteMonths(sample)))
  const row = (
    what: string,
    figure: typeof most,
    text: (value: number) => string,
    target: string,
    isReached: boolean,
  ) => {
    const { low, high } = intervalOf(outcomes, figure)
    return [what, text(figure(outcomes)), `${text(low)} to ${text(high)}`, target, yesNo(isReached)]
  }
  const rate = (value: number) => value.toFixed(2)
  return markdownTable(
    ['check', 'measured', '95 % interval', 'target', 'reached'],
    [
      row(
        'faults a person could see: detected',
        detected,
        percent,
        `≥ ${percent(TARGETS.detected)}`,
        detected(outcomes) >= TARGETS.detected,
      ),
      row(
        'false alarms a site and month, the probe with the most',
        most,
        rate,
        `≤ ${TARGETS.falseAlarmsOfSignal}`,
        most(outcomes) <= TARGETS.falseAlarmsOfSignal,
      ),
    ],
  )
}

const alarmsOf = (outcomes: readonly SiteOutcome[], probe: string) =>
  outcomes.flatMap(({ falseAlarms }) => falseAlarms).filter((alarm) => alarm.probe === probe)

function summary(outcomes: readonly SiteOutcome[]): string {
  const { detected, hardMinutes, falseAlarms } = figuresOf(outcomes)
  const between = (figure: (found: Figures) => number, text: (value: number) => string): string => {
    const { low, high } = intervalOf(outcomes, (sample) => figure(figuresOf(sample)))
    return `${text(low)} to ${text(high)}`
  }
  return markdownTable(
    ['check', 'measured', '95 % interval', 'target', 'reached'],
    [
      [
        'faults a person could see: detected',
        percent(detected),
        between((found) => found.detected, percent),
        `≥ ${percent(TARGETS.detected)}`,
        yesNo(detected >= TARGETS.detected),
      ],
      [
        'dead events, tags and sites: median time',
        minutes(hardMinutes),
        between((found) => found.hardMinutes, minutes),
        `≤ ${TARGETS.hardMinutes} min`,
        yesNo(hardMinutes <= TARGETS.hardMinutes),
      ],
      [
        'false alarms a site and month, all data probes',
        falseAlarms.toFixed(2),
        between(
          (found) => found.falseAlarms,
          (value) => value.toFixed(2),
        ),
        `≤ ${TARGETS.falseAlarms}`,
        yesNo(falseAlarms <= TARGETS.falseAlarms),
      ],
    ],
  )
}

function seedTable(bySeed: ReadonlyMap<number, readonly SiteOutcome[]>): string {
  const rows = Array.from(bySeed, ([seed, outcomes]) => {
    const { detected, hardMinutes, floorMinutes, falseAlarms } = figuresOf(outcomes)
    return [`${seed}`, percent(detected), minutes(hardMinutes), minutes(floorMinutes), falseAlarms.toFixed(2)]
  })
  return markdownTable(
    ['seed', 'detected', 'dead: median time', 'ideal watcher', 'false alarms a site and month'],
    rows,
  )
}

/** Dead events, tags and sites by how often they usually come. */
function hardTable(outcomes: readonly SiteOutcome[]): string {
  const hard = visibleOf(outcomes, HARD)
  const classes = RARITIES.map((least, index) => {
    const most = RARITIES[index - 1] ?? Number.POSITIVE_INFINITY
    const name = index === 0 ? `${least} or more` : `${least} to ${most}`
    return { name, faults: hard.filter(({ rate }) => rate >= least && rate < most) }
  })
  const rows = [...classes, { name: 'all', faults: hard }].map(({ name, faults }) => {
    const [found, ideal] = [faults.map(({ detectedAfter }) => detectedAfter), faults.map(({ floor }) => floor)]
    return [
      name,
      `${faults.length}`,
      minutes(medianMinutes(found)),
      minutes(medianMinutes(ideal)),
      (medianMinutes(found) / medianMinutes(ideal)).toFixed(2),
      shareInTime(found),
      shareInTime(ideal),
    ]
  })
  return markdownTable(
    [
      'dead, usually in five minutes',
      'faults',
      'median time',
      'ideal watcher',
      'times the ideal',
      `within ${TARGETS.hardMinutes} min`,
      'ideal watcher',
    ],
    rows,
  )
}

function faultTable(outcomes: readonly SiteOutcome[]): string {
  const rows = kindsIn(outcomes).map((kind) => {
    const injected = outcomes.flatMap(({ faults }) => faults).filter(({ fault }) => fault.kind === kind)
    const hopeless = injected.filter(({ isHopeless }) => isHopeless).length
    const delays = visibleOf(outcomes, [kind]).map(({ detectedAfter }) => detectedAfter)
    const found = delays.filter((delay) => delay !== null)
    const dated = visibleOf(outcomes, [kind]).flatMap(({ datedAfter }) => (datedAfter === null ? [] : [datedAfter]))
    return [
      kind,
      PROBES_OF[kind].join(', '),
      `${delays.length} of ${injected.length}`,
      `${hopeless}`,
      delays.length === 0 ? '' : percent(found.length / delays.length),
      found.length === 0 ? '' : `${(median(found) * MINUTES_A_SLOT).toFixed(0)} min`,
      dated.length === 0 ? '' : spread(dated),
    ]
  })
  return markdownTable(
    [
      'fault',
      'probes',
      'visible',
      'shows, but nobody could find it',
      'detected',
      'median time',
      'begins later than it did',
    ],
    rows,
  )
}

/** The median, and what nine of ten lie within. */
function spread(slots: readonly number[]): string {
  const sorted = slots.toSorted((a, b) => a - b)
  const at = (share: number) => (quantile(sorted, share) * MINUTES_A_SLOT).toFixed(0)
  return `${at(0.5)} (${at(0.05)} to ${at(0.95)}) min`
}

function alarmTable(outcomes: readonly SiteOutcome[]): string {
  const probes = probesIn(outcomes)
  const months = siteMonths(outcomes)
  const alarms = outcomes.flatMap(({ falseAlarms }) => falseAlarms)
  const rows = probes.map((probe) => {
    const own = alarms.filter((alarm) => alarm.probe === probe)
    const sites = outcomes.filter(({ falseAlarms }) => falseAlarms.some((alarm) => alarm.probe === probe)).length
    return [probe, (own.length / months).toFixed(2), `${sites} of ${outcomes.length}`]
  })
  return markdownTable(['probe', 'false alarms a site and month', 'sites with any'], rows)
}

/** False alarms by what went on, where the simulator knows. */
function causeTable(outcomes: readonly SiteOutcome[]): string[] {
  const months = siteMonths(outcomes)
  const byCause = Map.groupBy(
    outcomes.flatMap(({ falseAlarms }) => falseAlarms),
    ({ cause }) => cause ?? 'ordinary times',
  )
  if (byCause.size === 0 || (byCause.size === 1 && byCause.has('ordinary times'))) return []
  const probes = probesIn(outcomes)
  const rows = Array.from(byCause, ([cause, alarms]) => [
    cause,
    ...probes.map((name) => (alarms.filter(({ probe }) => probe === name).length / months).toFixed(2)),
  ])
  return [markdownTable(['false alarms a site and month during', ...probes], rows)]
}

/** The detectors of volume beside rules of an hour's work, on the same faults. */
function baselineTable(outcomes: readonly SiteOutcome[]): string {
  const months = siteMonths(outcomes)
  const kinds = FAULT_KINDS.filter((kind) => PROBES_OF[kind].includes('data_volume'))
  const seen = visibleOf(outcomes, kinds)
  const own = outcomes
    .flatMap(({ falseAlarms }) => falseAlarms)
    .filter(({ probe }) => PROBES_OF.silent_sender.includes(probe)).length
  const found = seen.filter(({ detectedAfter }) => detectedAfter !== null).length
  const all = outcomes.flatMap(({ baselines = [] }) => baselines)
  const rules = Array.from(
    Map.groupBy(all, ({ rule }) => rule),
    ([rule, ofRule]) => {
      const sum = (key: 'found' | 'visible' | 'falseAlarms') => ofRule.reduce((total, one) => total + one[key], 0)
      return [rule, percent(sum('found') / sum('visible')), (sum('falseAlarms') / months).toFixed(2)]
    },
  )
  return markdownTable(
    ['faults of volume', 'found', 'false alarms a site and month'],
    [['data_volume and data_freshness', percent(found / seen.length), (own / months).toFixed(2)], ...rules],
  )
}

interface Figures {
  readonly detected: number
  readonly hardMinutes: number
  readonly floorMinutes: number
  readonly falseAlarms: number
}

function figuresOf(outcomes: readonly SiteOutcome[]): Figures {
  const seen = visibleOf(outcomes, FAULT_KINDS)
  const hard = visibleOf(outcomes, HARD)
  return {
    detected: seen.filter(({ detectedAfter }) => detectedAfter !== null).length / seen.length,
    hardMinutes: medianMinutes(hard.map(({ detectedAfter }) => detectedAfter)),
    floorMinutes: medianMinutes(hard.map(({ floor }) => floor)),
    falseAlarms: outcomes.flatMap((outcome) => outcome.falseAlarms).length / siteMonths(outcomes),
  }
}

const visibleOf = (outcomes: readonly SiteOutcome[], kinds: readonly FaultKind[]): JudgedFault[] =>
  outcomes.flatMap(({ faults }) => faults).filter(({ fault, isVisible }) => isVisible && kinds.includes(fault.kind))

/** What was never detected took longer than anything. */
const medianMinutes = (delays: readonly (number | null)[]): number =>
  median(delays.map((delay) => delay ?? Number.POSITIVE_INFINITY)) * MINUTES_A_SLOT

const shareInTime = (delays: readonly (number | null)[]): string =>
  percent(
    delays.filter((delay) => delay !== null && delay * MINUTES_A_SLOT <= TARGETS.hardMinutes).length / delays.length,
  )

export const siteMonths = (outcomes: readonly SiteOutcome[]): number =>
  outcomes.reduce((slots, { judgedSlots }) => slots + judgedSlots, 0) / SLOTS_A_DAY / DAYS_A_MONTH

const minutes = (value: number): string => `${value.toFixed(1)} min`
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const yesNo = (reached: boolean): string => (reached ? 'yes' : 'no')
