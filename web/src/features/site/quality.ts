import type { Score, WindowReport } from '../../api/analytics.ts'

export type Part = 'user_data' | 'ecommerce'

export interface Field {
  field: string
  rate: number | null
  /** 0–1; undefined: it is no part of the score. */
  target?: number
  weight?: number
}

/** The fields of a part: those that count with what the score is made of, then the others as they were reported. */
export function fieldsOf(report: Pick<WindowReport, 'user_data' | 'ecommerce' | 'score'>, part: Part): Field[] {
  const { weight: _, ...inputs } = report.score.inputs[part] as Score['inputs']['user_data']
  const counting = Object.entries(inputs).map(([field, { rate, target, weight }]) => ({ field, rate, target, weight }))
  const { total: __, ...presence } = report[part]
  const others = Object.entries(presence as Record<string, { rate: number | null }>)
    .filter(([field]) => !(field in inputs))
    .map(([field, { rate }]) => ({ field, rate }))
  return [...counting, ...others]
}
