import type { AlertRow } from '../../store/index.ts'
import { beginFlapping } from './bad.ts'
import { notifyDue, notifyResolution } from './notify.ts'
import { CALM_RESULTS, type Streak } from './streak.ts'
import type { AlertEvent, Rules, Transition } from './types.ts'

/** A good result: the alert ends, or waits for more of them. */
export function recoverOrStay(alert: AlertRow, streak: Streak, rules: Rules, now: number): Transition {
  const after: AlertRow = { ...alert }
  const events: AlertEvent[] = []
  if (beginFlapping(after, events, streak)) return notifyDue(after, events, rules, now)
  if (after.is_flapping === 1) {
    if (streak.sinceFlip < CALM_RESULTS) return { alert, events: [], message: null }
    after.is_flapping = 0
    events.push({ kind: 'calmed', actor: null, text: `No change in ${CALM_RESULTS} results: it is over` })
  }
  if (streak.goodInRow < rules.recoveryThreshold) {
    return { alert: events.length === 0 ? alert : after, events, message: null }
  }
  after.state = 'resolved'
  after.resolution = 'recovered'
  after.resolved_at = now
  events.push({ kind: 'resolved', actor: null, text: 'Recovered' })
  return notifyResolution(after, events, rules, now)
}
