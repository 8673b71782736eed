import { SECOND } from '../../lib/index.ts'
import { GATHERED_KINDS } from '../outbox.ts'

/** Alerts of a client that open within this time of the first are one outage. */
export const OUTAGE_MS = 30 * SECOND
/** From how many on they go out as one message. */
const OUTAGE_ALERTS = 3
/** What one message holds at most: a webhook that takes bodies up to 1 MB takes it. */
const GROUP_MAX = 100

/** A message that has not been sent, as far as its order and company go. Times are epoch ms. */
export interface QueuedMessage {
  id: string
  clientId: string | null
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
  /** Settle which of these go out together: see `groupsOf`. They are of one client and kind, the oldest first. */
  | { kind: 'settle'; rows: readonly QueuedMessage[] }
  /** Nothing before `until`; null: nothing at all. */
  | { kind: 'rest'; until: number | null }

/**
 * What to do next, by these rules:
 *
 * - Messages go in their order, but what is held back holds back only its own alert's later messages.
 * - An alert that opens or ends may be one of many. The first of a client waits for others (`GATHER_MS`); if one comes, all wait
 *   until `OUTAGE_MS` after the first. So a lone alert goes out soon, and an outage as one message.
 * - Reminders and the like wait for nothing, but as many as make an outage go out together if they are due together.
 * - What goes out together is settled and written down before it is sent, also when it is a single message: after a crash the
 *   same is sent again under the same key, whatever has come since.
 *
 * @param waiting in the order in which they were written
 */
export function nextStep(waiting: readonly QueuedMessage[], now: number): PlanStep {
  const heldAlerts = new Set<string>()
  const heldGatherings = new Set<string>()
  let until: number | null = null
  const hold = ({ alertId }: QueuedMessage, time?: number) => {
    if (alertId !== null) heldAlerts.add(alertId)
    if (time !== undefined) until = Math.min(until ?? time, time)
  }
  for (const row of waiting) {
    if (row.alertId !== null && heldAlerts.has(row.alertId)) continue
    if (row.groupId !== null) return { kind: 'send', row }
    if (!GATHERED_KINDS.includes(row.kind)) {
      if (row.notBefore <= now) return alone(row, waiting, heldAlerts)
      hold(row, row.notBefore)
      continue
    }
    const gathering = `${row.kind} ${row.clientId}`
    if (heldGatherings.has(gathering)) {
      hold(row)
      continue
    }
    const company = companyOf(row, waiting, heldAlerts)
    const readyAt = company.length === 1 ? row.notBefore : Math.max(row.notBefore, row.createdAt + OUTAGE_MS)
    if (readyAt <= now) return { kind: 'settle', rows: company }
    heldGatherings.add(gathering)
    hold(row, readyAt)
  }
  return { kind: 'rest', until }
}

/**
 * How messages that are settled together go out: as one when, with those sent already, they are an outage; else one by one.
 *
 * @param notified how many more alerts of the client went out as opened (or resolved) within `OUTAGE_MS`
 */
export function groupsOf<T>(rows: readonly T[], notified: number): T[][] {
  return rows.length > 1 && rows.length + notified >= OUTAGE_ALERTS ? [[...rows]] : rows.map((row) => [row])
}

/** A message that waits for no other goes out alone, unless so much of its kind is due that it would be a flood. */
function alone(row: QueuedMessage, waiting: readonly QueuedMessage[], heldAlerts: ReadonlySet<string>): PlanStep {
  const rows = row.alertId === null ? [] : companyOf(row, waiting, heldAlerts)
  return rows.length >= OUTAGE_ALERTS ? { kind: 'settle', rows } : { kind: 'send', row }
}

/** The first and those that may go with it: those before which nothing of their alert is held back. */
function companyOf(
  first: QueuedMessage,
  waiting: readonly QueuedMessage[],
  heldAlerts: ReadonlySet<string>,
): QueuedMessage[] {
  const company: QueuedMessage[] = []
  const alerts = new Set(heldAlerts)
  for (const row of waiting) {
    const isFree = row.alertId === null || !alerts.has(row.alertId)
    if (row.alertId !== null) alerts.add(row.alertId)
    const isAlike = row.kind === first.kind && row.clientId === first.clientId && row.groupId === null
    if (isFree && isAlike && row.createdAt <= first.createdAt + OUTAGE_MS && company.length < GROUP_MAX)
      company.push(row)
  }
  return company
}
