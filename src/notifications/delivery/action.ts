import type { ChannelRow } from '../../store/index.ts'
import { keyOf, storedAddress } from '../channel.ts'
import { nextStep, type PlanStep, type QueuedMessage } from './planning.ts'

/** A channel and what waits on it, read at one time. */
export interface ChannelSnapshot {
  channel: ChannelRow
  /** Where it leads at present; null: nowhere any more. */
  address: string | null
  waiting: readonly QueuedMessage[]
  /** The clients that the messages are about, as far as they exist and are active. */
  clientIds: ReadonlySet<string>
  /** Waiting messages that an alert is resolved whose opening never reached this channel. */
  unannounced: readonly string[]
}

export type Action =
  | PlanStep
  /** These are no longer to be sent. */
  | { kind: 'cancel'; ids: readonly string[]; reason: string }
  /** The address was edited: what is known of the old one says nothing about it. */
  | { kind: 'renew' /** As it is stored. */; address: string }
  /** All is ready but the channel, which takes its next message then. */
  | { kind: 'pause'; until: number }

/** What to do about a channel now; one thing at a time, as each changes what there is to see. */
export function actionFor({ channel, address, waiting, clientIds, unannounced }: ChannelSnapshot, now: number): Action {
  if (waiting.length === 0) return { kind: 'rest', until: null }
  if (address === null) {
    return { kind: 'cancel', ids: waiting.map(({ id }) => id), reason: 'the channel has no address any more' }
  }
  const gone = waiting.filter(({ clientId }) => clientId !== null && !clientIds.has(clientId))
  if (gone.length > 0) {
    return { kind: 'cancel', ids: gone.map(({ id }) => id), reason: 'the client was deleted or is not active' }
  }
  if (unannounced.length > 0) return { kind: 'cancel', ids: unannounced, reason: 'its opening was never notified' }
  const stored = storedAddress({ key: keyOf(channel.channel), address })
  if (channel.address !== stored) return { kind: 'renew', address: stored }
  if (channel.off_since !== null) return { kind: 'rest', until: null }
  const step = nextStep(waiting, now)
  if (step.kind === 'rest' || channel.next_attempt_at <= now) return step
  return { kind: 'pause', until: channel.next_attempt_at }
}
