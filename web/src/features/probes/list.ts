import type { Status } from '../../api/overview.ts'
import type { ProbeRecord } from '../../api/probes.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { duration, unbroken } from '../../lib/words.ts'
import { bySeverity, STATUS_WORDS, STATUSES, unjudgedWords } from '../../ui/status/status.ts'

export const FILTERS = ['all', 'trouble', 'off'] as const
export type Filter = (typeof FILTERS)[number]

/** A probe in the list, with its site. */
export interface ProbeRow {
  probe: ProbeRecord
  site: SiteRecord | undefined
  status: Status
}

/** The target's status by the last result; unknown when it judged nothing. */
export const statusOf = ({ last_status, judged }: Pick<ProbeRecord, 'last_status' | 'judged'>): Status =>
  judged ? (last_status ?? 'unknown') : 'unknown'

/** Whether neither the probe nor its site or client is paused. What it found last is old otherwise, and judges nothing. */
export const runs = ({ paused_by }: Pick<ProbeRecord, 'paused_by'>): boolean => paused_by === null

/** "paused", "client paused" */
export const pausedWords = ({ paused_by }: Pick<ProbeRecord, 'paused_by'>): string =>
  paused_by === null || paused_by === 'probe' ? 'paused' : `${paused_by} paused`

/** A probe's mark and its words: a paused one is in no state. */
export function markOf(probe: ProbeRecord): { status: Status; label: string } {
  if (!runs(probe)) return { status: 'unknown', label: pausedWords(probe) }
  const status = statusOf(probe)
  return { status, label: unjudgedWords(probe, probe.last_message) ?? STATUS_WORDS[status] }
}

/** The rows of the list, worst first, paused probes last. */
export function rowsOf(probes: readonly ProbeRecord[], sites: readonly SiteRecord[]): ProbeRow[] {
  const byId = new Map(sites.map((site) => [site.id, site]))
  return probes
    .map((probe) => ({ probe, site: byId.get(probe.site_id), status: statusOf(probe) }))
    .toSorted(
      (a, b) =>
        Number(runs(b.probe)) - Number(runs(a.probe)) ||
        bySeverity(a.status, b.status) ||
        (a.site?.name ?? '').localeCompare(b.site?.name ?? '') ||
        a.probe.name.localeCompare(b.probe.name),
    )
}

/** The rows of a filter whose probe, type, site or message contains the text. */
export function matching(rows: readonly ProbeRow[], filter: Filter, search: string): ProbeRow[] {
  const sought = search.trim().toLowerCase()
  return rows.filter(
    ({ probe, site, status }) =>
      fits(filter, runs(probe), status) &&
      `${probe.name}\n${probe.probe_type}\n${site?.name ?? ''}\n${probe.last_message ?? ''}`
        .toLowerCase()
        .includes(sought),
  )
}

function fits(filter: Filter, isRunning: boolean, status: Status): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'trouble':
      return isRunning && status !== 'ok' && status !== 'unknown'
    case 'off':
      return !isRunning
  }
}

/** The number of probes that run in each state, worst first, and of paused ones. */
export function countsOf(rows: readonly ProbeRow[]): { states: { status: Status; count: number }[]; off: number } {
  const active = rows.filter(({ probe }) => runs(probe))
  const states = STATUSES.map((status) => ({ status, count: active.filter((row) => row.status === status).length }))
  return { states: states.filter(({ count }) => count > 0), off: rows.length - active.length }
}

/** A result's message with a capital first letter. */
export const sentence = (message: string): string => unbroken(message.slice(0, 1).toUpperCase() + message.slice(1))

const INTERVALS = [30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400]
export const THRESHOLDS = [1, 2, 3, 5, 10, 20]

interface Option {
  value: string
  label: string
}

/** The intervals that a type allows, and the current one. */
export const intervalOptions = (least: number, now: number): Option[] =>
  withNow(INTERVALS, now)
    .filter((seconds) => seconds >= least || seconds === now)
    .map((seconds) => ({ value: String(seconds), label: inWords(seconds) }))

const ONE: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour', 86400: 'day' }

/** The words after "every": "minute", "5 min"; "90 s" stays in seconds, because minutes would round it. */
export const inWords = (seconds: number): string => {
  if (seconds >= 60 && seconds % 60 !== 0) return `${seconds} s`
  return ONE[seconds] ?? duration(seconds * 1_000)
}

export const thresholdOptions = (kind: 'failure' | 'recovery', now: number): Option[] =>
  withNow(THRESHOLDS, now).map((count) => ({
    value: String(count),
    label:
      kind === 'failure'
        ? count === 1
          ? 'with the first bad result'
          : `after ${count} bad results in a row`
        : count === 1
          ? 'with the first good result'
          : `after ${count} good results in a row`,
  }))

const withNow = (presets: readonly number[], now: number): number[] =>
  presets.includes(now) ? [...presets] : [...presets, now].toSorted((a, b) => a - b)

/** The time from a failure until its alert opens. */
export function alertDelay(intervalSeconds: number, failures: number): string {
  const [least, most] = [(failures - 1) * intervalSeconds, failures * intervalSeconds]
  const span =
    least === 0 ? `at most ${duration(most * 1_000)}` : `${duration(least * 1_000)} to ${duration(most * 1_000)}`
  return `An alert opens ${span} after something breaks. A check that could not be made neither counts nor clears.`
}
