import { duration, HOUR, isoTime, isoTimeOrNull } from '../../../lib/index.ts'
import type { Part } from './part.ts'

export interface Intraday {
  table: string
  /** When rows last came; null when there is no table today. */
  freshAt: number | null
  /** Whether there was such a table in the last days: without one, nothing is streamed, and silence is usual. */
  isUsual: boolean
  /** When today's active hours begin and end, epoch ms. */
  activeFrom: number
  activeTo: number
}

const WARNING_MS = 2 * HOUR
const CRITICAL_MS = 6 * HOUR

/** Silence counts within the active hours only: at night nothing is missing. */
export function judgeIntraday({ table, freshAt, isUsual, activeFrom, activeTo }: Intraday, now: number): Part | null {
  if (freshAt === null && !isUsual) return null
  const details = {
    table,
    exists: freshAt !== null,
    last_change: isoTimeOrNull(freshAt),
    active_from: isoTime(activeFrom),
    active_to: isoTime(activeTo),
  }
  const silence = Math.min(now, activeTo) - Math.max(freshAt ?? activeFrom, activeFrom)
  const isActive = now >= activeFrom && now < activeTo
  if (!isActive || silence < WARNING_MS) {
    const message =
      freshAt === null ? `There is no ${table} yet` : `${table} last changed ${duration(now - freshAt)} ago`
    return { status: 'ok', message, details }
  }
  const message =
    freshAt === null
      ? `Nothing is streamed today: there is no ${table}, ${duration(silence)} into the active hours`
      : `${table} has not changed for ${duration(now - freshAt)}`
  return {
    status: silence >= CRITICAL_MS ? 'critical' : 'warning',
    message,
    details: { ...details, reason: 'stream_stopped', silent_ms: silence },
  }
}
