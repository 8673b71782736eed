import type { IncidentDetail } from '../../api/incidents.ts'
import { channelName, heldUntil } from '../../ui/delivery-words.ts'

type Messages = Pick<IncidentDetail, 'deliveries' | 'severity' | 'state'>

/**
 * Why people have not been notified, where they are to be later or not at all: "Warning: message due at 03:30 (Slack)". Null where there is
 * nothing to explain.
 */
export function messageDue(
  { deliveries, severity, state }: Messages,
  clock: (at: number) => string,
  now: number,
): string | null {
  const openings = deliveries.filter(({ kind, state }) => kind === 'opened' && state !== 'cancelled')
  const waiting = openings.flatMap((delivery) => {
    const due = heldUntil(delivery, now)
    return due === null ? [] : [{ due, channel: channelName(delivery) }]
  })
  const first = waiting.toSorted((a, b) => a.due - b.due)[0]
  if (first !== undefined) {
    const channels = [...new Set(waiting.map(({ channel }) => channel))].join(', ')
    return `${severity === 'critical' ? 'Message' : 'Warning: message'} due at ${clock(first.due)} (${channels})`
  }
  const isUntold = state === 'resolved' && openings.length === 0 && deliveries.length > 0
  return isUntold && deliveries.every(({ over_before_due }) => over_before_due)
    ? 'No message: it was over before one was due'
    : null
}
