import { withoutEnd } from '../../lib/index.ts'
import type { AlertMessageKind, Severity } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'

/**
 * `target`: what the probe watches, as a whole or one of the tags, events and fields that it judges separately. `check`: whether
 * the probe can do its work.
 */
export type Subject = 'target' | 'check'

export const EVENT_KINDS = [
  'opened',
  'confirmed',
  'escalated',
  'eased',
  'widened',
  'flapping',
  'calmed',
  'notified',
  'suppressed',
  'unreachable',
  'acknowledged',
  'unacknowledged',
  'silenced',
  'unsilenced',
  'marked',
  'unmarked',
  'resolved',
] as const
type EventKind = (typeof EVENT_KINDS)[number]

/** An entry of an alert's timeline. */
export interface AlertEvent {
  kind: EventKind
  actor: string | null
  text: string
}

/** What decides about an alert's messages, from the settings of its probe and client. */
export interface Rules {
  failureThreshold: number
  recoveryThreshold: number
  /** Null = no reminders. */
  reminderMinutes: number | null
  notifyResolved: boolean
  /**
   * Why nothing may be sent now: `silence:ID`, `maintenance:ID`, `quota` when the message about it says the same, or `no_channel` when
   * there is no one to notify; null when it may.
   * Whether another alert speaks for the same incident is decided later.
   */
  suppressedBy: string | null
  /** The reason in words, where the default text for its kind does not fit. */
  suppressedText?: string | undefined
}

/** For alerts that close without a message. */
export const SILENT: Rules = {
  failureThreshold: 1,
  recoveryThreshold: 1,
  reminderMinutes: null,
  notifyResolved: false,
  suppressedBy: null,
}

/** What a bad result found, as the alert keeps it. */
export interface Violation {
  severity: Severity
  /** Which tag, event or field, for people; null for the whole. */
  subject_label: string | null
  title: string
  message: string
  /** JSON. */
  details: string
}

/** What an alert is about, which never changes. A probe has at most one unresolved alert for each subject. */
type Identity = Pick<AlertRow, 'id' | 'client_id' | 'site_id' | 'probe_id' | 'probe_type' | 'subject'> &
  Partial<Pick<AlertRow, 'vendor'>>

/** What can change an alert: a result, time, a person, or the removal of its probe. */
export type AlertInput =
  /** `startedAt`: when it became bad as far as the result says, epoch ms. `events`: those of its events on which a tag is bad. */
  | {
      type: 'result'
      streak: Streak
      violation: Violation
      startedAt: number
      events: readonly string[]
      identity: Identity
    }
  | { type: 'time' }
  | { type: 'acknowledged'; by: string; comment: string | null }
  | { type: 'unacknowledged'; by: string; comment: string | null }
  | { type: 'resolved'; by: string; comment: string | null }
  /** The probe was deleted or paused, or its site or client was. */
  | { type: 'removed'; text: string }
  /** Nothing arrived for a day that it could be judged by. */
  | { type: 'gone' }
  /** It covered several subjects, each of which has its own alert now. */
  | { type: 'replaced' }

/** How an input changes an alert. */
export interface Transition {
  /** The alert afterwards, or null when there is none. The same object as before when nothing changed. */
  alert: AlertRow | null
  events: readonly AlertEvent[]
  /** The message to send now. */
  message: AlertMessageKind | null
  /** The message for channels to which `escalated` is no news. */
  otherwise?: AlertMessageKind | null
}

/** An alert with this many flips among the last 20 results is flapping. */
export const FLAPPING_FLIPS = 4
/** Flapping ends after this many results without a flip. */
export const CALM_RESULTS = 10
/** After this many errors in a row the check itself counts as broken. */
const FAILING_ERRORS = 3

/** What a probe's last results, this one included, say about a subject. */
export interface Streak {
  /** `silent`: this result says nothing about the subject. */
  verdict: 'bad' | 'good' | 'silent'
  badInRow: number
  goodInRow: number
  /** Changes between good and bad. */
  flips: number
  /** Results after the last flip, or all results when there was none. */
  sinceFlip: number
}

/**
 * Judges a subject by the letters of its probe's results, oldest first (`oowceu`). For a target, errors and results that judged
 * nothing (`u`) are skipped, so that silence is no recovery. For the check itself only errors are bad; it never flaps, because
 * three errors open it and any other result resolves it.
 */
export function streakOf(subject: Subject, recent: string): Streak {
  return subject === 'target' ? targetStreak(recent) : checkStreak(recent)
}

function targetStreak(recent: string): Streak {
  const goods = [...recent].filter((letter) => letter !== 'e' && letter !== 'u').map((letter) => letter === 'o')
  const last = goods.at(-1)
  const lastOther = goods.lastIndexOf(last !== true)
  const inRow = goods.length - 1 - lastOther
  const flips = goods.filter((isGood, index) => index > 0 && isGood !== goods[index - 1]).length
  const isSilent = /[eu]$/.test(recent) || last === undefined
  return {
    verdict: isSilent ? 'silent' : last ? 'good' : 'bad',
    badInRow: last === false ? inRow : 0,
    goodInRow: last === true ? inRow : 0,
    flips,
    sinceFlip: flips === 0 ? goods.length : inRow - 1,
  }
}

function checkStreak(recent: string): Streak {
  const errors = recent.length - withoutEnd(recent, 'e').length
  const isBad = errors >= FAILING_ERRORS
  return {
    verdict: isBad ? 'bad' : errors > 0 ? 'silent' : 'good',
    badInRow: isBad ? errors : 0,
    goodInRow: errors === 0 ? 1 : 0,
    flips: 0,
    sinceFlip: recent.length,
  }
}

export const subjectOf = ({ subject }: Pick<AlertRow, 'subject'>): Subject => (subject === 'check' ? 'check' : 'target')
