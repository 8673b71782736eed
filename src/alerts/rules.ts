import { isReachable, offChannels, type Reach } from '../notifications/index.ts'
import { WHOLE } from '../probes/index.ts'
import type { AlertRow, Tables, Transaction } from '../store/index.ts'
import type { Rules } from './machine.ts'
import { type Quiet, quietFor } from './quiet.ts'
import { type Outage, outagesOf, sameOutage, suppressedBy } from './same-outage.ts'
import { type Place, placesOf } from './surroundings.ts'

/** What decides about messages, read once for all alerts that are looked at together. */
export interface Surroundings {
  now: number
  quiet: Quiet
  reach: Reach
  /** By the probe's id. */
  places: ReadonlyMap<string, Place>
  /** Channels that nothing is sent on until somebody mends them. */
  off: ReadonlySet<string>
  /** What may be the same outage; grows with what opens meanwhile. */
  outages: Outage[]
}

/** What is to be read for these probes and their unresolved alerts. */
interface Asked extends Pick<Surroundings, 'quiet' | 'reach' | 'now'> {
  probeIds: readonly string[]
  alerts: readonly AlertRow[]
}

export async function surroundingsOf(trx: Transaction<Tables>, asked: Asked): Promise<Surroundings> {
  const { probeIds, alerts, quiet, reach, now } = asked
  const places = await placesOf(trx, probeIds)
  const sites = Array.from(places.values(), ({ site, probe }) => ({ siteId: site.id, probeType: probe.probe_type }))
  return { quiet, reach, now, places, off: await offChannels(trx), outages: await outagesOf(trx, sites, alerts) }
}

/**
 * Errors have a threshold of their own, so that about the check itself the probe's do not count.
 *
 * @param alert as it is, or as it would be opened
 */
export function rulesOf(alert: Alert, place: Place, surroundings: Surroundings): Rules {
  const isTarget = alert.subject !== 'check'
  return {
    failureThreshold: isTarget ? place.failureThreshold : 1,
    recoveryThreshold: isTarget ? place.recoveryThreshold : 1,
    reminderMinutes: place.reminderMinutes,
    notifyResolved: place.notifyResolved,
    notifyEscalated: place.notifyEscalated,
    ...quietRules(alert, place, surroundings),
  }
}

type Alert = Outage & Pick<AlertRow, 'subject' | 'suppressed_by'>

function quietRules(alert: Alert, place: Place, surroundings: Surroundings): Pick<Rules, 'quietBy' | 'quietText'> {
  const { quiet, reach, off, outages, now } = surroundings
  const { client, site, probe } = place
  const target = { clientId: client.id, siteId: site.id, probeId: probe.id, subject: alert.subject }
  const reason = quietFor(target, quiet.silences, quiet.maintenances, now)
  if (reason !== null) return { quietBy: reason.by }
  const other = alert.subject === WHOLE ? sameOutage(alert, outages) : undefined
  if (other !== undefined) {
    return { quietBy: suppressedBy(other), quietText: `No notification: the same outage as “${other.title}”` }
  }
  if (isReachable(client, reach, off)) return { quietBy: null }
  return isReachable(client, reach, new Set())
    ? { quietBy: 'no_channel', quietText: 'Nobody to notify: every channel is switched off after a failure' }
    : { quietBy: 'no_channel' }
}
