import type { ProbeRecord } from '../../api/probes.ts'
import type { ReconciliationAnswer, ReferenceRecord } from '../../api/reconciliation.ts'
import { compact, counted, percent } from '../../lib/words.ts'
import type { TimeSeries } from '../../ui/chart/points.ts'
import type { LegendRow } from './Legend.tsx'

type Pair = Pick<ReferenceRecord, 'source' | 'event'>

/** The name of a pair of source and event, for lists and as key. */
export const pairName = ({ source, event }: Pair): string => `${event} · ${source}`

const TOKEN = '--series-1'
export const CAPTURED = 'Captured'

/** The share captured on each day, including today so far; a gap when the source counted nothing. */
export function capturedSeries({ days }: ReconciliationAnswer, target: number | undefined): TimeSeries[] {
  const open = days.find(({ is_over }) => !is_over)
  return [
    {
      key: CAPTURED,
      token: TOKEN,
      points: days.map(({ from, captured, reference }) => ({ t: from, value: captured, base: reference ?? 0 })),
      ...(target !== undefined && { target }),
      ...(open !== undefined && { knownUntil: Date.parse(open.from) }),
    },
  ]
}

/** The days of a report, epoch ms. */
export function timeOfDays({ days }: ReconciliationAnswer): { from: number; to: number } | undefined {
  const [first, last] = [days[0], days.at(-1)]
  return first === undefined || last === undefined
    ? undefined
    : { from: Date.parse(first.from), to: Date.parse(last.to) }
}

/** Whether a day has more than 100 %, which would leave the chart. */
export const isOverAll = ({ days }: ReconciliationAnswer): boolean => days.some(({ captured }) => (captured ?? 0) > 1)

/** The figures of the whole time, and what they lack. */
export function capturedRows(report: ReconciliationAnswer, target: number | undefined): LegendRow[] {
  const { source, captured, reference, missing_hours, counted_in_missing, unknown_hours } = report
  return [
    {
      key: 'captured',
      name: CAPTURED,
      token: TOKEN,
      value: captured === null ? '–' : percent(captured),
      reference: target === undefined ? undefined : `at least ${percent(target)}`,
    },
    { key: 'reference', name: `Counted by ${source}`, value: compact(reference ?? 0) },
    { key: 'counted', name: 'Counted here', value: compact(report.counted ?? 0) },
    ...(missing_hours === 0
      ? []
      : [
          {
            key: 'missing',
            name: 'Not reported',
            value: counted(missing_hours, 'hour'),
            reference: counted_in_missing === 0 ? undefined : `${compact(counted_in_missing)} counted here`,
          },
        ]),
    ...(unknown_hours === 0 ? [] : [{ key: 'down', name: 'Not watched here', value: counted(unknown_hours, 'hour') }]),
  ]
}

/** The probe that judges the pair, if there is one. */
export const probeOf = (probes: readonly ProbeRecord[], { source, event }: Pair): ProbeRecord | undefined =>
  probes.find(
    ({ probe_type, is_active, config }) =>
      probe_type === 'reconciliation' && is_active && config.source === source && config.event === event,
  )

/** The probe's minimum share, 0–1. */
export function targetOf(probe: ProbeRecord | undefined): number | undefined {
  const percentage = probe?.config.min_captured_percent
  return typeof percentage === 'number' ? percentage / 100 : undefined
}
