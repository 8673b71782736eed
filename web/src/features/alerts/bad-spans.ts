import type { AlertDetail, AlertRecord } from '../../api/alerts.ts'
import type { AlertSpan } from '../../ui/chart/time-option.ts'
import { alertSpans } from '../site/marks.ts'

/** When it was bad: this alert and the others. Times in epoch ms. */
export const badSpans = (alert: AlertDetail, others: readonly AlertRecord[], from: number, to: number): AlertSpan[] =>
  alertSpans([alert, ...others], from, to)
