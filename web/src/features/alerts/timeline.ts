import type { AlertDetail } from '../../api/alerts.ts'
import type { DeliveryRecord } from '../../api/channels.ts'

type Entry = AlertDetail['timeline'][number]

/** What happened at a time, and the messages that went out because of it. */
export interface TimelineLine<K extends string = Entry['kind']> extends Omit<Entry, 'kind'> {
  key: string
  /** `sent`: messages whose reason is not in the timeline. */
  kind: K | 'sent'
  deliveries: DeliveryRecord[]
}

interface Story<K extends string> {
  timeline: readonly (Omit<Entry, 'kind'> & { kind: K })[]
  deliveries: readonly DeliveryRecord[]
}

/** Maximum distance between a message's delivery and its entry, whose times are taken separately, ms. */
const TOGETHER_MS = 2_000

const arrivedAt = ({ delivered_at, created_at }: DeliveryRecord): number => Date.parse(delivered_at ?? created_at)

/** Why no one was notified, and what to do: add a channel, or with `isOff` turn one on. */
export type ChannelHint = { why: string; way: string; isOff: boolean }

/** @param text of an entry that says no one was notified */
export const channelHint = (text: string): ChannelHint =>
  /switched off/.test(text)
    ? { why: 'No one to notify: all channels are switched off,', way: 'turn one on', isOff: true }
    : { why: 'No one to notify:', way: 'add a channel', isOff: false }

/** The timeline of an alert or incident, oldest first, with the messages at their entries. */
export function timelineOf<K extends string>({ timeline, deliveries }: Story<K>): TimelineLine<K>[] {
  const lines = timeline.map((entry, n): TimelineLine<K> => ({ ...entry, key: `${n}`, deliveries: [] }))
  const alone: TimelineLine<K>[] = []
  for (const delivery of deliveries.toReversed()) {
    const notified = lines.filter(
      ({ kind, at }) => kind === 'notified' && Math.abs(Date.parse(at) - arrivedAt(delivery)) <= TOGETHER_MS,
    )
    // Each message has its own entry; several sent at the same time have several.
    const line = notified.find(({ deliveries }) => deliveries.length === 0) ?? notified[0]
    if (line !== undefined) line.deliveries.push(delivery)
    else {
      const words = { at: delivery.created_at, actor: null, text: 'A message was written' }
      alone.push({ ...words, key: delivery.id, kind: 'sent' as const, deliveries: [delivery] })
    }
  }
  return [...lines, ...alone].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
