import { isReachable } from '../notifications/index.ts'
import { WHOLE } from '../probes/index.ts'
import type { AlertRow } from '../store/index.ts'
import type { AlertContext, AlertSource } from './context.ts'
import type { Rules } from './machine.ts'
import { quietFor } from './quiet.ts'
import { type Outage, sameOutage, suppressedBy } from './same-outage.ts'

/**
 * Errors have a threshold of their own, so that about the check itself the probe's do not count.
 *
 * @param alert as it is, or as it would be opened
 */
export function rulesOf(alert: Alert, source: AlertSource, context: AlertContext): Rules {
  const isTarget = alert.subject !== 'check'
  return {
    failureThreshold: isTarget ? source.failureThreshold : 1,
    recoveryThreshold: isTarget ? source.recoveryThreshold : 1,
    reminderMinutes: source.reminderMinutes,
    notifyResolved: source.notifyResolved,
    notifyEscalated: source.notifyEscalated,
    ...quietRules(alert, source, context),
  }
}

type Alert = Outage & Pick<AlertRow, 'subject' | 'suppressed_by'>

function quietRules(alert: Alert, source: AlertSource, context: AlertContext): Pick<Rules, 'quietBy' | 'quietText'> {
  const { quiet, reach, off, outages, now } = context
  const { client, site, probe } = source
  const target = { clientId: client.id, siteId: site.id, probeId: probe.id, subject: alert.subject }
  const reason = quietFor(target, quiet.silences, quiet.maintenances, now)
  if (reason !== null) return { quietBy: reason.by }
  const other = alert.subject === WHOLE ? sameOutage(alert, outages) : undefined
  if (other !== undefined) {
    return { quietBy: suppressedBy(other), quietText: `No notification: the same outage as “${other.title}”` }
  }
  if (isReachable(client, reach, off)) return { quietBy: null }
  return isReachable(client, reach, new Set())
    ? { quietBy: 'no_channel', quietText: 'No one to notify: every channel is switched off after a failure' }
    : { quietBy: 'no_channel' }
}
