import type { ChannelRow, DeliveryRow } from '../../store/index.ts'
import type { SendOutcome } from '../transport.ts'

/** What changes when an attempt has ended: of every message that went with it, and of its channel. */
export interface Consequences {
  deliveries: Pick<DeliveryRow, 'attempts' | 'last_attempt_at' | 'last_error'> &
    Partial<Pick<DeliveryRow, 'state' | 'delivered_at'>>
  channel: Partial<ChannelRow>
  /** What was refused as one message is tried one by one: it may have been too much at once. */
  splitsGroup: boolean
  /** Whether the channel takes the next message. */
  goesOn: boolean
}

/** What an attempt is judged by. Times are epoch ms. */
export interface Attempt {
  channel: Pick<ChannelRow, 'failures' | 'failing_since'>
  rows: readonly Pick<DeliveryRow, 'attempts'>[]
  now: number
  /** Until the next message when all goes well. */
  paceMs: number
  /** Until the next attempt after so many failures in a row. */
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
        deliveries: { ...tried, state: 'delivered', delivered_at: now, last_error: outcome.note ?? null },
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
        // A channel that refuses one message takes others.
        channel: { ...WELL, next_attempt_at: now + paceMs },
        splitsGroup,
        goesOn: true,
      }
    }
  }
}
