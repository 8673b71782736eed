import type { ChannelRow } from '../../store/index.ts'
import { keyOf } from '../channel.ts'
import { storedAddress } from '../stored-address.ts'
import { nextStep, type Step, type Waiting } from './planning.ts'

/** A channel and what waits on it. */
export interface ChannelLook {
  channel: ChannelRow
  /** Where it leads at present; null: nowhere any more. */
  address: string | null
  waiting: readonly Waiting[]
  /** The clients that the messages are about, as far as they exist and are active. */
  clientIds: ReadonlySet<string>
  /** Waiting messages that say an alert is over of which nobody was told here that it began. */
  untold: readonly string[]
}

export type Action =
  | Step
  /** Nobody is to be told of these any more. */
  | { kind: 'cancel'; ids: readonly string[]; reason: string }
  /** The address was edited: what is known of the old one says nothing about it. */
  | { kind: 'renew' /** As it is stored. */; address: string }
  /** All is ready but the channel, which takes its next message then. */
  | { kind: 'pause'; until: number }

/** What to do about a channel now; one thing at a time, as each changes what there is to see. */
export function actionFor({ channel, address, waiting, clientIds, untold }: ChannelLook, now: number): Action {
  if (waiting.length === 0) return { kind: 'rest', until: null }
  if (address === null) {
    return { kind: 'cancel', ids: waiting.map(({ id }) => id), reason: 'the channel has no address any more' }
  }
  const gone = waiting.filter(({ clientId }) => clientId !== null && !clientIds.has(clientId))
  if (gone.length > 0) {
    return { kind: 'cancel', ids: gone.map(({ id }) => id), reason: 'the client was deleted or is not active' }
  }
  if (untold.length > 0) return { kind: 'cancel', ids: untold, reason: 'its opening was never notified' }
  const stored = storedAddress({ key: keyOf(channel.channel), address })
  if (channel.address !== stored) return { kind: 'renew', address: stored }
  if (channel.off_since !== null) return { kind: 'rest', until: null }
  const step = nextStep(waiting, now)
  if (step.kind === 'rest' || channel.next_attempt_at <= now) return step
  return { kind: 'pause', until: channel.next_attempt_at }
}
