import { channelsTakingForWarning } from '../../notifications/index.ts'
import type { AlertRow, Tables, Transaction } from '../../store/index.ts'
import { silenceOf } from '../mutes.ts'
import { type AlertContext, rulesOf } from '../rules.ts'
import type { Case } from './case.ts'
import type { Intent, PendingTransition } from './due-messages.ts'

interface Move {
  pending: PendingTransition
  alert: AlertRow
}

/** Messages that find the channels that are behind by themselves, or after which it does not matter how bad it was. */
const SAYS_SO: readonly string[] = ['opened', 'escalated', 'flapping', 'reminder', 'resolved']

/**
 * Returns what is to be said, with the channels that are behind taken into account: what others know as critical is news to a channel
 * that was told of a warning only, such as one that was dead in between. A cause that is found is said there as what became critical.
 */
export async function withThoseBehind(
  trx: Transaction<Tables>,
  intents: readonly Intent[],
  moves: readonly Move[],
  cases: Iterable<Case>,
  context: AlertContext,
): Promise<Intent[]> {
  const worse = [...cases].flatMap((known) => {
    const { id, announced_alert_id: voice, notified_severity, resolved_at } = known.row
    if (voice === null || notified_severity !== 'critical' || resolved_at !== null) return []
    if (silenceOf(context.mutes, id) !== null) return []
    if (intents.some((intent) => intent.known === known && SAYS_SO.includes(intent.kind))) return []
    const move = moves.find(
      ({ alert, pending }) => alert.incident_id === id && isSteadyCritical(alert, pending, context),
    )
    return move === undefined ? [] : { known, voice, move }
  })
  if (worse.length === 0) return [...intents]
  const behind = await channelsTakingForWarning(
    trx,
    worse.map(({ voice }) => voice),
  )
  const all = [...intents]
  for (const { known, voice, move } of worse) {
    const to = behind.get(voice)
    if (to === undefined || to.size === 0) continue
    const at = all.findIndex((intent) => intent.known === known && intent.kind === 'explained')
    const found = all[at]
    const alert = known.alerts.get(move.alert.id) ?? move.alert
    const speaking = { known, note: found?.note ?? null, move: { before: move.pending.before, alert }, ending: null }
    if (found !== undefined) all[at] = { ...found, knowing: new Set([...(found.knowing ?? []), ...to]) }
    all.push({ ...speaking, kind: 'escalated', to, isRepeat: true })
  }
  return all
}

/** Returns whether the alert may escalate now: of what flaps, or is silenced, nothing is said until that is over. */
function isSteadyCritical(alert: AlertRow, { source }: PendingTransition, context: AlertContext): boolean {
  if (alert.severity !== 'critical' || alert.state === 'resolved' || alert.confirmed_at === null) return false
  if (alert.is_flapping === 1 || source?.notifyEscalated !== true) return false
  return rulesOf(alert, source, context).suppressedBy === null
}
