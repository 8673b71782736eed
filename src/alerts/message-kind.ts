import type { AlertMessageKind } from '../notifications/index.ts'
import type { DueMessage } from './incidents/due-messages.ts'

/** What a channel's messages have said of an incident that lasts: nothing, too, if the last was its end. */
type Knowledge = 'nothing' | 'open' | 'critical'

/** A channel as one message finds it. */
export interface Listener {
  /** Whether it takes messages of this severity. */
  takesSeverity: boolean
  /** Whether its client wants escalations of what it knows. */
  wantsEscalations: boolean
  knows: Knowledge
}

/** News about an incident, and what that is to channels to which `escalated` is no news. */
export type News = Pick<DueMessage, 'kind' | 'otherwise'>

/** Messages after which no one has to act. */
export const QUIETENS: readonly AlertMessageKind[] = ['acknowledged', 'unacknowledged', 'resolved']

/**
 * Returns as which message a channel gets the news, or null when it gets none.
 *
 * - An end goes to channels that know of the incident, even if they now take critical alerts only.
 * - To a channel that knows nothing, the escalation is the opening, whatever the client chose for escalations.
 */
export function kindFor({ kind, otherwise = null }: News, listener: Listener): AlertMessageKind | null {
  const { takesSeverity, wantsEscalations, knows } = listener
  if (QUIETENS.includes(kind)) return knows === 'nothing' ? null : kind
  if (!takesSeverity) return null
  const isNews = kind !== 'escalated' || knows === 'nothing' || (knows === 'open' && wantsEscalations)
  return isNews ? kind : otherwise
}
