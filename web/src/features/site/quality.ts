import type { Score, WindowReport } from '../../api/analytics.ts'
import { roughly } from './words.ts'

export type Part = 'user_data' | 'ecommerce'
type QualityReport = Pick<WindowReport, 'user_data' | 'ecommerce' | 'score'>
type Presence = WindowReport['user_data']['email']

export interface Field {
  field: string
  rate: number | null
  /** 0–1; undefined when the field is not part of the score. */
  target?: number
  weight?: number
}

/** The fields of a part: first those in the score with their targets, then the others. */
export function fieldsOf(report: QualityReport, part: Part): Field[] {
  const { weight: _, ...inputs } = report.score.inputs[part] as Score['inputs']['user_data']
  const counting = Object.entries(inputs).map(([field, { rate, target, weight }]) => ({ field, rate, target, weight }))
  const { total: __, ...presence } = report[part]
  const others = Object.entries(presence as Record<string, { rate: number | null }>)
    .filter(([field]) => !(field in inputs))
    .map(([field, { rate }]) => ({ field, rate }))
  return [...counting, ...others]
}

/** A field as its chart's legend shows it. */
export interface ShownField extends Field {
  /** The number of events it rests on, when these are only some of the part's. */
  base?: number
}

/**
 * The fields of a part for its legend. The score judges no field that no event has, but its share is known to be 0. Only purchases have a
 * transaction id, so without a purchase nothing is known of it. The details of user data rest on the events that were sent one by one.
 */
export function shownFields(report: QualityReport, part: Part): ShownField[] {
  const { total, ...presence } = report[part]
  return fieldsOf(report, part).flatMap((each) => {
    const { field, rate, target } = each
    const all = (presence as Record<string, Presence>)[field]
    const shown = rate ?? (field === 'transaction_id' ? null : (all?.rate ?? null))
    // Batches do not carry all fields: leave out unknown ones that have no target.
    if (shown === null && target === undefined) return []
    const isPartial = all !== undefined && all.total < total
    return [{ ...each, rate: shown, ...(isPartial ? { base: all.total } : {}) }]
  })
}

/** What the shares of the fields in the score are of: "present in up to 350 events that can carry it". Each field has its own events. */
export function basesInWords(report: QualityReport, part: Part): string {
  const { weight: _, ...inputs } = report.score.inputs[part] as Score['inputs']['user_data']
  const bases = Object.values(inputs).flatMap(({ total }) => (total === 0 ? [] : [total]))
  const most = bases.length === 0 ? report[part].total : Math.max(...bases)
  const upTo = bases.every((base) => base === most) ? '' : 'up to '
  return `present in ${upTo}${roughly(most, 'event')} that can carry it`
}
