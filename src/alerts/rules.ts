import { isReachable, offChannels, type Reach } from '../notifications/index.ts'
import type { Tables, Transaction } from '../store/index.ts'
import type { Rules } from './machine.ts'
import { type Quiet, quietFor } from './quiet.ts'
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
}

export async function surroundingsOf(
  trx: Transaction<Tables>,
  { probeIds, quiet, reach, now }: Pick<Surroundings, 'quiet' | 'reach' | 'now'> & { probeIds: readonly string[] },
): Promise<Surroundings> {
  return { quiet, reach, now, places: await placesOf(trx, probeIds), off: await offChannels(trx) }
}

/** Errors have a threshold of their own, so that about the check itself the probe's do not count. */
export function rulesOf(subject: string, place: Place, surroundings: Surroundings): Rules {
  const isTarget = subject !== 'check'
  return {
    failureThreshold: isTarget ? place.failureThreshold : 1,
    recoveryThreshold: isTarget ? place.recoveryThreshold : 1,
    reminderMinutes: place.reminderMinutes,
    notifyResolved: place.notifyResolved,
    notifyEscalated: place.notifyEscalated,
    ...quietRules(subject, place, surroundings),
  }
}

function quietRules(subject: string, place: Place, surroundings: Surroundings): Pick<Rules, 'quietBy' | 'quietText'> {
  const { quiet, reach, off, now } = surroundings
  const { client, site, probe } = place
  const target = { clientId: client.id, siteId: site.id, probeId: probe.id, subject }
  const reason = quietFor(target, quiet.silences, quiet.maintenances, now)
  if (reason !== null) return { quietBy: reason.by }
  if (isReachable(client, reach, off)) return { quietBy: null }
  return isReachable(client, reach, new Set())
    ? { quietBy: 'no_channel', quietText: 'Nobody to notify: every channel is switched off after a failure' }
    : { quietBy: 'no_channel' }
}
