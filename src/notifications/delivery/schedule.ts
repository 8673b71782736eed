import { HOUR, MINUTE, SECOND } from '../../lib/index.ts'
import type { ChannelRow, DeliveryRow } from '../../store/index.ts'
import { type ChannelKey, keyOf, kindOf, storedAddress } from '../channel.ts'
import { BRIEF, ENDS, GATHERED_KINDS, isRest } from '../outbox-entry.ts'
import { isEdit, isForIncidents, isForPeople } from '../services/services.ts'
import type { SendOutcome } from '../transport.ts'

/** Alerts of a client that open within this time of the first are one outage. */
export const OUTAGE_MS = 30 * SECOND
/** An outage of at least this many alerts is sent as one message. */
const OUTAGE_ALERTS = 3
/** Messages in one group: a webhook that takes bodies up to 1 MB accepts them. */
const GROUP_MAX = 100

/** The fields of a pending message that decide on its order and group. Times are epoch ms. */
export interface QueuedMessage {
  id: string
  clientId: string | null
  /** What it is about: an alert, or a vendor's incident. */
  alertId: string | null
  kind: string
  createdAt: number
  notBefore: number
  groupId: string | null
}

/** What a channel can do about its waiting messages now. */
export type PlanStep =
  /** Send this message, with all of its group if it has one. */
  | { kind: 'send'; row: QueuedMessage }
  /**
   * Settle which of these are sent together, see `groupsOf`. They are of one client and kind, the oldest first. With `isOne` all of
   * them are sent together, and may include ends.
   */
  | { kind: 'settle'; rows: readonly QueuedMessage[]; isOne: boolean }
  /** Nothing to do before `until`; null: nothing at all. */
  | { kind: 'rest'; until: number | null }

/**
 * Returns what to do next, by these rules:
 *
 * - Messages are sent in order, but one that is held back holds up only later messages about its own alert.
 * - An alert that opens or resolves may be one of many. The first of a client waits for others (`GATHER_MS`); if one comes, all
 *   wait until `OUTAGE_MS` after the first. So a lone alert is sent soon, and an outage as one message.
 * - A message that is held back for longer waits for no other and holds up none. Those due at the same time are settled together.
 * - On a channel for all clients (`gathersEnds`) an opening takes along the ends that are certain, of any client, and the first end
 *   that is due takes along the others.
 * - Reminders and the like wait for nothing, but if as many as make an outage are due together, they are sent together.
 * - What is sent together is settled and stored before it is sent, even a single message: after a crash the same is sent again
 *   under the same key, whatever was written since.
 *
 * @param waiting in the order in which they were written
 */
export function nextStep(waiting: readonly QueuedMessage[], now: number, gathersEnds = false): PlanStep {
  const heldAlerts = new Set<string>()
  const heldGatherings = new Set<string>()
  let until: number | null = null
  const settle = (first: QueuedMessage, rows: readonly QueuedMessage[]): PlanStep => {
    const ends = gathersEnds ? waiting.filter((row) => !rows.includes(row) && isCertainEnd(row, waiting, now)) : []
    const isEnd = first.kind === 'resolved'
    // Two openings would each list all ends.
    return isEnd || rows.length === 1
      ? { kind: 'settle', rows: [...rows, ...ends].slice(0, GROUP_MAX), isOne: ends.length > 0 }
      : { kind: 'settle', rows, isOne: false }
  }
  const hold = ({ alertId }: QueuedMessage, time?: number) => {
    if (alertId !== null) heldAlerts.add(alertId)
    if (time !== undefined) until = Math.min(until ?? time, time)
  }
  for (const row of waiting) {
    if (row.alertId !== null && heldAlerts.has(row.alertId)) continue
    if (isRest(row) && row.notBefore > now) {
      hold(row, row.notBefore)
      continue
    }
    if (row.groupId !== null) return { kind: 'send', row }
    if (!GATHERED_KINDS.includes(row.kind)) {
      if (row.notBefore <= now) return alone(row, waiting, heldAlerts, now)
      hold(row, row.notBefore)
      continue
    }
    if (isKeptBack(row)) {
      if (row.notBefore <= now) return settle(row, companyOf(row, waiting, heldAlerts, now))
      hold(row, row.notBefore)
      continue
    }
    const gathering = `${row.kind} ${row.clientId}`
    if (heldGatherings.has(gathering)) {
      hold(row)
      continue
    }
    const company = companyOf(row, waiting, heldAlerts, now)
    const readyAt = company.length === 1 ? row.notBefore : Math.max(row.notBefore, row.createdAt + OUTAGE_MS)
    if (readyAt <= now) return settle(row, company)
    heldGatherings.add(gathering)
    hold(row, readyAt)
  }
  return { kind: 'rest', until }
}

/**
 * Returns how messages that are settled together are sent: as one when, with those already sent, they are an outage, or else one by
 * one.
 *
 * @param notified how many more alerts of the client were sent as opened (or resolved) within `OUTAGE_MS`
 */
export function groupsOf<T>(rows: readonly T[], notified: number): T[][] {
  return rows.length > 1 && rows.length + notified >= OUTAGE_ALERTS ? [[...rows]] : rows.map((row) => [row])
}

/** Sends a message that waits for no other alone, unless so many of its kind are due that they would be a flood. */
function alone(
  row: QueuedMessage,
  waiting: readonly QueuedMessage[],
  heldAlerts: ReadonlySet<string>,
  now: number,
): PlanStep {
  // Messages about vendors are of no client.
  const rows = row.alertId === null || row.clientId === null ? [] : companyOf(row, waiting, heldAlerts, now)
  return rows.length >= OUTAGE_ALERTS ? { kind: 'settle', rows, isOne: false } : { kind: 'send', row }
}

/** Returns the first message and those that may be sent with it: those of whose alert nothing earlier is held back. */
function companyOf(
  first: QueuedMessage,
  waiting: readonly QueuedMessage[],
  heldAlerts: ReadonlySet<string>,
  now: number,
): QueuedMessage[] {
  const company: QueuedMessage[] = []
  const alerts = new Set(heldAlerts)
  for (const row of waiting) {
    const isFree = row.alertId === null || !alerts.has(row.alertId)
    if (row.alertId !== null) alerts.add(row.alertId)
    const isAlike = row.kind === first.kind && row.groupId === null
    if (isFree && isAlike && isOneWith(first, row, now) && company.length < GROUP_MAX) company.push(row)
  }
  return company
}

const isOneWith = (first: QueuedMessage, row: QueuedMessage, now: number): boolean =>
  row.clientId === first.clientId &&
  isKeptBack(row) === isKeptBack(first) &&
  (isKeptBack(first) ? row.notBefore <= now : row.createdAt <= first.createdAt + OUTAGE_MS)

/** An end is never withdrawn this long after it was written. */
const CERTAIN_MS = 2 * HOUR

/** Whether an end is held back only to be sent along with others, and may be sent with any message now, because its opening was sent. */
const isCertainEnd = (row: QueuedMessage, waiting: readonly QueuedMessage[], now: number): boolean =>
  row.kind === 'resolved' &&
  row.groupId === null &&
  isKeptBack(row) &&
  row.createdAt + CERTAIN_MS <= now &&
  !waiting.some(({ alertId, id }) => alertId === row.alertId && id < row.id)

/** Whether a message is held back longer than to wait for its outage: in quiet hours, or until its end is certain. */
const isKeptBack = ({ createdAt, notBefore }: QueuedMessage): boolean => notBefore > createdAt + OUTAGE_MS

/** A channel and its pending messages, read at the same time. */
export interface ChannelSnapshot {
  channel: ChannelRow
  /** Its current address; null when it has none any more. */
  address: string | null
  waiting: readonly QueuedMessage[]
  /** Those of the messages' clients that exist and are active; empty when the channel does not exist or is inactive. */
  clientIds: ReadonlySet<string>
  /** Ids of pending ends whose opening never reached this channel. */
  unannounced: readonly string[]
}

export type Action =
  | PlanStep
  /** These are no longer to be sent, as long as they are still of these kinds. */
  | { kind: 'cancel'; ids: readonly string[]; reason: string; of?: readonly string[] }
  /** The address was edited, so what is known about the old one no longer applies. */
  | { kind: 'renew' /** As it is stored. */; address: string }
  /** A message is ready, but the channel takes the next one only at `until`. */
  | { kind: 'pause'; until: number }

/** Returns what to do about a channel now, one thing at a time, because each changes the snapshot. */
export function actionFor(snapshot: ChannelSnapshot, now: number): Action {
  const { channel, address, clientIds, unannounced } = snapshot
  const waiting = snapshot.waiting.map((message) => inTime(message, now))
  if (waiting.length === 0) return { kind: 'rest', until: null }
  if (address === null) {
    return { kind: 'cancel', ids: waiting.map(({ id }) => id), reason: 'the channel no longer has an address' }
  }
  // Pausing a client ends its incidents, also at services that page people.
  const isKept = ({ kind }: QueuedMessage) =>
    kind === 'resolved' && isForIncidents(kindOf(keyOf(channel.channel), address))
  const gone = waiting.filter((row) => row.clientId !== null && !clientIds.has(row.clientId) && !isKept(row))
  if (gone.length > 0) {
    return {
      kind: 'cancel',
      ids: gone.map(({ id }) => id),
      reason: 'the client or the channel was deleted or is not active',
    }
  }
  if (unannounced.length > 0) {
    return { kind: 'cancel', ids: unannounced, reason: 'no one was notified that it opened', of: ENDS }
  }
  const brief = waiting.filter(({ kind, notBefore }) => kind === BRIEF.kind && notBefore <= now)
  if (brief.length > 0) {
    return { kind: 'cancel', ids: brief.map(({ id }) => id), reason: BRIEF.reason, of: [BRIEF.kind] }
  }
  const stored = storedAddress({ key: keyOf(channel.channel), address })
  if (channel.address !== stored) return { kind: 'renew', address: stored }
  if (channel.off_since !== null) return { kind: 'rest', until: null }
  const step = nextStep(waiting, now, gathersEnds(keyOf(channel.channel), address))
  if (step.kind === 'rest' || isOpenTo(channel, now)) return step
  return { kind: 'pause', until: channel.next_attempt_at }
}

/** Whether it is the operator's channel, which gets messages about all clients, and people read it. */
export const gathersEnds = (key: ChannelKey, address: string): boolean =>
  key === 'global' && isForPeople(kindOf(key, address)) && !isEdit(kindOf(key, address), 'resolved')

/** A time further ahead was written while the clock was ahead. Since it was set back, such a time would silence a channel for as long. */
const CLOCK_SLACK_MS = MINUTE

/** Returns whether a channel takes a message now. No pace or failure makes it wait for longer than an hour. */
export const isOpenTo = ({ next_attempt_at }: Pick<ChannelRow, 'next_attempt_at'>, now: number): boolean =>
  next_attempt_at <= now || next_attempt_at > now + LONGEST_PAUSE_MS + CLOCK_SLACK_MS

/** Makes a message due that was written while the clock was ahead: it has waited long enough. */
const inTime = (message: QueuedMessage, now: number): QueuedMessage =>
  message.createdAt > now + CLOCK_SLACK_MS ? { ...message, createdAt: now - OUTAGE_MS, notBefore: now } : message

/** What an attempt changes: in every message that was part of it, and in its channel. */
export interface Consequences {
  deliveries: Pick<DeliveryRow, 'attempts' | 'last_attempt_at' | 'last_error'> &
    Partial<Pick<DeliveryRow, 'state' | 'delivered_at' | 'receipt' | 'not_before' | 'given_up_at'>>
  channel: Partial<ChannelRow>
  /** What was refused as one message is tried one by one, because it may have been too large. */
  splitsGroup: boolean
  /** Whether the channel takes the next message. */
  goesOn: boolean
}

/** What the consequences of an attempt depend on. Times are epoch ms. */
export interface Attempt {
  channel: Pick<ChannelRow, 'failures' | 'failing_since'>
  rows: readonly Pick<DeliveryRow, 'attempts' | 'created_at'>[]
  now: number
  /** Time until the next message after a success, ms. */
  paceMs: number
  /** Returns the time until the next attempt after this many failures in a row, ms. */
  backoffMs: (failures: number, retryAfterMs: number | undefined) => number
}

const WELL = { failures: 0, failing_since: null, last_error: null, off_since: null }

export function consequencesOf(outcome: SendOutcome, attempt: Attempt): Consequences {
  const { channel, rows, now, paceMs, backoffMs } = attempt
  const tried = { attempts: Math.max(0, ...rows.map(({ attempts }) => attempts)) + 1, last_attempt_at: now }
  const failures = channel.failures + 1
  const failing = { failures, failing_since: channel.failing_since ?? now }
  switch (outcome.kind) {
    case 'delivered':
      return {
        deliveries: {
          ...tried,
          state: 'delivered',
          // Clocks may differ or be set back, but no message arrives before it was written.
          delivered_at: Math.max(now, ...rows.map(({ created_at }) => created_at)),
          last_error: outcome.note ?? null,
          // A message about several alerts cannot be changed for one of them.
          ...(outcome.receipt !== undefined && rows.length === 1 ? { receipt: outcome.receipt } : {}),
        },
        channel: { ...WELL, last_success_at: now, next_attempt_at: now + paceMs },
        splitsGroup: false,
        goesOn: true,
      }
    case 'passing':
      return {
        deliveries: { ...tried, last_error: outcome.error },
        channel: {
          ...failing,
          last_error: outcome.error,
          next_attempt_at: now + backoffMs(failures, outcome.retryAfterMs),
        },
        splitsGroup: false,
        goesOn: false,
      }
    case 'channel_broken':
      return {
        deliveries: { ...tried, last_error: outcome.error },
        channel: { ...failing, last_error: outcome.error, off_since: now },
        splitsGroup: false,
        goesOn: false,
      }
    case 'message_refused': {
      const splitsGroup = rows.length > 1
      return {
        deliveries: { ...tried, last_error: outcome.error, ...(splitsGroup ? {} : { state: 'failed' }) },
        // It may accept others, so they are still sent. Until it does, no one is notified there.
        channel: splitsGroup
          ? { next_attempt_at: now + paceMs }
          : { ...failing, last_error: outcome.error, off_since: null, next_attempt_at: now + paceMs },
        splitsGroup,
        goesOn: true,
      }
    }
  }
}

const FIRST_MS = 10 * SECOND
const LONGEST_PAUSE_MS = HOUR
/** With the jitter this is one hour. */
const LONGEST_MS = 50 * MINUTE
/** Keeps channels that failed together from all trying again at the same time. */
const JITTER = 0.2

/**
 * Returns how long a channel waits after its `failures`th failure in a row, ms: 10 s, doubled each time up to an hour. A service's
 * `Retry-After` takes precedence, also up to an hour, because a broken server may ask for a year.
 *
 * @param random between 0 and 1
 */
export function backoffMs(failures: number, retryAfterMs: number | undefined, random: number): number {
  const doubled = (first: number) => Math.min(LONGEST_MS, first * 2 ** (failures - 1))
  // A broken service may ask for 0 s, or for a second all day.
  if (retryAfterMs !== undefined) return Math.min(LONGEST_PAUSE_MS, Math.max(doubled(SECOND), retryAfterMs))
  return Math.round(doubled(FIRST_MS) * (1 + JITTER * random))
}
