import { asError, newOrderedId } from '../lib/index.ts'
import type { ProbeResultRow, ProbeRow, SiteRow } from '../store/index.ts'
import type { DeployMarker, ProbeOutcome, ResultStatus } from './probe-type.ts'
import type { Run } from './run-probe.ts'

const MESSAGE_MAX = 1_000
const DETAILS_MAX = 16_000
const MEMORY_MAX = 64_000
/** As many as flapping is judged by. */
const RECENT_STATUSES = 20

/** What a run came to, ready to be written. */
export interface Finished {
  /** As it was claimed. */
  probe: ProbeRow
  site: SiteRow
  status: ResultStatus
  result: ProbeResultRow
  memory: string
  consecutiveFailures: number
  /** The first letters of the last statuses, oldest first, this one included. */
  recentStatuses: string
  deployMarkers: readonly DeployMarker[]
}

export function finishedOf(probe: ProbeRow, site: SiteRow, { outcome, attempts, executedAt }: Run): Finished {
  const kept = keptOutcome(outcome)
  return {
    probe,
    site,
    status: kept.status,
    result: {
      probe_id: probe.id,
      id: newOrderedId(executedAt),
      status: kept.status,
      message: storableText(kept.message).slice(0, MESSAGE_MAX),
      response_time_ms: kept.responseTimeMs === undefined ? null : Math.round(kept.responseTimeMs),
      details: JSON.stringify(kept.details),
      attempts,
      executed_at: executedAt,
      maintenance_id: null,
    },
    recentStatuses: (probe.recent_statuses + kept.status[0]).slice(-RECENT_STATUSES),
    memory: kept.memory === undefined ? probe.memory : JSON.stringify(kept.memory),
    consecutiveFailures: failuresAfter(probe.consecutive_failures, kept.status),
    deployMarkers: kept.deployMarkers ?? [],
  }
}

/** Warnings and criticals in a row; an error says nothing about the target. */
function failuresAfter(before: number, status: ResultStatus): number {
  if (status === 'ok') return 0
  return status === 'error' ? before : before + 1
}

/** A type may hand on what its target said: what cannot be kept must not fail the whole batch. */
function keptOutcome(outcome: ProbeOutcome): ProbeOutcome {
  try {
    const length = JSON.stringify(outcome.details).length
    if (JSON.stringify(outcome.memory ?? null).length > MEMORY_MAX) throw new Error('it remembers too much')
    return length <= DETAILS_MAX ? outcome : { ...outcome, details: { reason: 'details_too_long', length } }
  } catch (thrown) {
    const message = `The outcome of the check cannot be kept: ${asError(thrown).message}`
    return { status: 'error', message, details: { reason: 'bad_outcome' } }
  }
}

/** PostgreSQL's text takes neither NUL nor half a character; JSON escapes both by itself. */
export const storableText = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
