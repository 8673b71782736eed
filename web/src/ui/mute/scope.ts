// Separate from the picker, which is not in the first load.

import type { Directory } from '../../lib/use-directory.ts'
import type { Scope } from './mutes.ts'

/** The client and the site that a scope lies in. */
export function aboveOf(scope: Scope, directory: Directory): { clientId: string | null; siteId: string | null } {
  const siteId = scope.site_id ?? (scope.probe_id === null ? null : (directory.siteOfProbe[scope.probe_id] ?? null))
  const clientId = scope.client_id ?? (siteId === null ? null : (directory.sites[siteId]?.client_id ?? null))
  return { clientId, siteId }
}

/** The zone for times of a scope: the site's; undefined (the reader's own) for a whole client. */
export function zoneOf(scope: Scope, directory: Directory): string | undefined {
  const { siteId } = aboveOf(scope, directory)
  return siteId === null ? undefined : directory.sites[siteId]?.timezone
}

/** "ACME", "ACME · shop.acme.com", "ACME · shop.acme.com · health": from the largest to the smallest. */
export function scopeName(scope: Scope, directory: Directory): string {
  if (typeof scope.incident_id === 'string') return 'An incident'
  const { clientId, siteId } = aboveOf(scope, directory)
  const site = siteId === null ? undefined : directory.sites[siteId]
  const client = clientId === null ? undefined : directory.clients[clientId]?.name
  const probe = site?.probes.find(({ id }) => id === scope.probe_id)?.name
  const names = [client, site?.name, probe].filter((name) => name !== undefined)
  return names.length === 0 ? 'Something that is paused' : names.join(' · ')
}
