import { median } from '../lib/statistics.ts'
import { markdownTable } from '../lib/table.ts'
import { FAULT_KINDS, type FaultKind } from './faults.ts'
import { HARD, PROBES_OF, type SiteOutcome } from './score.ts'
import { SLOTS_A_DAY } from './world.ts'

const DAYS_A_MONTH = 30
const MINUTES_A_SLOT = 5
/** Of what comes less often in five minutes, ten minutes of silence say little to anybody. */
const FREQUENT = 10

export const TARGETS = { detected: 0.95, hardMinutes: 10, falseAlarms: 2 } as const

/** Results of all sites as Markdown. */
export function tables(outcomes: readonly SiteOutcome[]): string {
  return [summary(outcomes), faultTable(outcomes), alarmTable(outcomes)].join('\n\n')
}

function summary(outcomes: readonly SiteOutcome[]): string {
  const seen = delaysOf(outcomes, FAULT_KINDS)
  const hardMinutes = medianMinutes(delaysOf(outcomes, HARD))
  const detected = seen.filter((delay) => delay !== null).length / seen.length
  const falseAlarms = outcomes.flatMap((outcome) => outcome.falseAlarms).length / siteMonths(outcomes)
  return markdownTable(
    ['check', 'measured', 'target', 'reached'],
    [
      [
        'faults a person could see: detected',
        percent(detected),
        `≥ ${percent(TARGETS.detected)}`,
        yesNo(detected >= TARGETS.detected),
      ],
      [
        'dead events, tags and sites: median time',
        `${hardMinutes.toFixed(1)} min`,
        `≤ ${TARGETS.hardMinutes} min`,
        yesNo(hardMinutes <= TARGETS.hardMinutes),
      ],
      [
        `of these, what usually comes ${FREQUENT} times in five minutes: median time`,
        `${medianMinutes(delaysOf(outcomes, HARD, FREQUENT)).toFixed(1)} min`,
        '',
        '',
      ],
      [
        'false alarms a site and month, all data probes',
        falseAlarms.toFixed(2),
        `≤ ${TARGETS.falseAlarms}`,
        yesNo(falseAlarms <= TARGETS.falseAlarms),
      ],
    ],
  )
}

function faultTable(outcomes: readonly SiteOutcome[]): string {
  const rows = FAULT_KINDS.map((kind) => {
    const injected = outcomes.flatMap(({ faults }) => faults).filter(({ fault }) => fault.kind === kind).length
    const delays = delaysOf(outcomes, [kind])
    const found = delays.filter((delay) => delay !== null)
    return [
      kind,
      PROBES_OF[kind].join(', '),
      `${delays.length} of ${injected}`,
      delays.length === 0 ? '' : percent(found.length / delays.length),
      found.length === 0 ? '' : `${(median(found) * MINUTES_A_SLOT).toFixed(0)} min`,
    ]
  })
  return markdownTable(['fault', 'probes', 'visible', 'detected', 'median time'], rows)
}

function alarmTable(outcomes: readonly SiteOutcome[]): string {
  const probes = [...new Set(Object.values(PROBES_OF).flat())]
  const months = siteMonths(outcomes)
  const alarms = outcomes.flatMap(({ falseAlarms }) => falseAlarms)
  const rows = probes.map((probe) => {
    const own = alarms.filter((alarm) => alarm.probe === probe)
    const sites = outcomes.filter(({ falseAlarms }) => falseAlarms.some((alarm) => alarm.probe === probe)).length
    return [probe, (own.length / months).toFixed(2), `${sites} of ${outcomes.length}`]
  })
  return markdownTable(['probe', 'false alarms a site and month', 'sites with any'], rows)
}

const medianMinutes = (delays: readonly (number | null)[]): number =>
  median(delays.filter((delay) => delay !== null)) * MINUTES_A_SLOT

/** Delays of the visible faults of some kinds in slots, null for those not detected. */
const delaysOf = (outcomes: readonly SiteOutcome[], kinds: readonly FaultKind[], minRate = 0): (number | null)[] =>
  outcomes
    .flatMap(({ faults }) => faults)
    .filter(({ fault, isVisible, rate }) => isVisible && rate >= minRate && kinds.includes(fault.kind))
    .map(({ detectedAfter }) => detectedAfter)

const siteMonths = (outcomes: readonly SiteOutcome[]): number =>
  outcomes.reduce((slots, { judgedSlots }) => slots + judgedSlots, 0) / SLOTS_A_DAY / DAYS_A_MONTH

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const yesNo = (reached: boolean): string => (reached ? 'yes' : 'no')
