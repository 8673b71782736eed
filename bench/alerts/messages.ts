import { type AlertRules, streakOf, transition } from '../../src/alerts/index.ts'
import { GATHER_MS, groupsOf, nextStep, OUTAGE_MS, type QueuedMessage } from '../../src/notifications/index.ts'
import type { AlertRow } from '../../src/store/index.ts'
import type { Letter } from './statuses.ts'

/** A probe's results on the virtual clock. */
export interface Timeline {
  clientId: string
  probeId: string
  results: readonly { at: number; letter: Letter; message: string }[]
}

export interface Policy {
  name: string
  failureThreshold: number
  recoveryThreshold: number
  hasFlapping: boolean
  isGrouped: boolean
}

export interface SentNotification {
  kind: string
  clientId: string
  alertId: string
  at: number
  /** When it may go out, where that is known. */
  notBefore?: number
}

/** Every message that the alerts of these probes would write, in the order of time. */
export function messagesOf(timelines: readonly Timeline[], policy: Policy): SentNotification[] {
  const sent = timelines.flatMap((timeline) => notificationsOf(timeline, policy))
  return sent.sort((a, b) => a.at - b.at)
}

function notificationsOf({ clientId, probeId, results }: Timeline, policy: Policy): SentNotification[] {
  const rules: AlertRules = {
    failureThreshold: policy.failureThreshold,
    recoveryThreshold: policy.recoveryThreshold,
    reminderMinutes: null,
    notifyResolved: true,
    suppressedBy: null,
  }
  const sent: SentNotification[] = []
  let alert: AlertRow | null = null
  let recent = ''
  let opened = 0
  for (const { at, letter, message } of results) {
    recent = (recent + letter).slice(-20)
    const streak = streakOf('target', recent)
    const identity = {
      id: `${probeId} ${opened}`,
      client_id: clientId,
      site_id: clientId,
      probe_id: probeId,
      probe_type: 'data',
      subject: 'target' as const,
    }
    const severity = letter === 'c' ? ('critical' as const) : ('warning' as const)
    const made = transition(
      alert,
      {
        type: 'result',
        streak: policy.hasFlapping ? streak : { ...streak, flips: 0 },
        violation: { severity, subject_label: null, title: message, message, details: '{}' },
        startedAt: at,
        events: [],
        identity,
      },
      rules,
      at,
    )
    if (alert === null && made.alert !== null) opened++
    if (made.message !== null) sent.push({ kind: made.message, clientId, alertId: made.alert?.id ?? '', at })
    alert = made.alert?.state === 'resolved' ? null : made.alert
  }
  return sent
}

/** How many messages reach a chat channel that all of them go to, grouped by client as deliveries are. */
export function delivered(sent: readonly SentNotification[], { isGrouped }: Policy, gathersEnds = false): number {
  if (!isGrouped) return sent.length
  if (gathersEnds) return groupedCount(sent, true)
  const byClient = Map.groupBy(sent, ({ clientId }) => clientId)
  return [...byClient.values()].reduce((sum, ofClient) => sum + groupedCount(ofClient, false), 0)
}

function groupedCount(sent: readonly SentNotification[], gathersEnds: boolean): number {
  const channel = new VirtualChannel(gathersEnds)
  for (const [index, message] of sent.entries()) {
    channel.runUntil(message.at)
    channel.write(message, index)
  }
  channel.runUntil(Number.MAX_SAFE_INTEGER)
  return channel.sent
}

/** A channel on which sending takes no time: it follows the plan of the deliveries, second by second as they do. */
class VirtualChannel {
  sent = 0
  #waiting: QueuedMessage[] = []
  #settled: { kind: string; createdAt: number }[] = []
  #now = 0
  readonly #gathersEnds: boolean

  constructor(gathersEnds: boolean) {
    this.#gathersEnds = gathersEnds
  }

  write({ kind, clientId, alertId, at, notBefore: known }: SentNotification, index: number): void {
    const notBefore = known ?? (kind === 'opened' || kind === 'resolved' ? at + GATHER_MS : at)
    const id = String(index).padStart(9, '0')
    this.#waiting.push({ id, clientId, alertId, kind, createdAt: at, notBefore, groupId: null })
    this.#now = at
  }

  runUntil(end: number): void {
    for (;;) {
      const step = nextStep(this.#waiting, this.#now, this.#gathersEnds)
      if (step.kind === 'rest') {
        if (step.until === null || step.until > end) return
        this.#now = step.until
        continue
      }
      if (step.kind === 'send') this.#send(step.row)
      else this.#settle(step.rows, step.isOne)
    }
  }

  #send({ id, groupId }: QueuedMessage): void {
    this.sent++
    this.#waiting = this.#waiting.filter((row) => (groupId === null ? row.id !== id : row.groupId !== groupId))
  }

  #settle(rows: readonly QueuedMessage[], isOne: boolean): void {
    const [first] = rows
    if (first === undefined) return
    const sent = this.#settled.filter(
      ({ kind, createdAt }) => kind === first.kind && Math.abs(createdAt - first.createdAt) <= OUTAGE_MS,
    ).length
    for (const group of isOne ? [rows] : groupsOf(rows, sent)) {
      for (const row of group) row.groupId = group[0]?.id ?? null
    }
    this.#settled.push(...rows)
  }
}
