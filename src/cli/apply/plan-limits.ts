import { MOST_MAINTENANCE } from '../../alerts/index.ts'
import { MOST_SITES } from '../../management/index.ts'
import { MOST_CHANNELS } from '../../notifications/index.ts'
import { MOST_PROBES } from '../../probes/index.ts'
import type { Change, Limited } from './change.ts'
import type { Planning } from './planning.ts'
import type { PresentClient } from './present.ts'
import type { WantedClient } from './wanted.ts'

/**
 * Notes a problem when the service would refuse to create more for the client. Deletions come before creations.
 *
 * @param changes those of the client
 */
export function requireRoomIn(
  { caller, problems }: Planning,
  { source }: WantedClient,
  present: PresentClient | null,
  changes: readonly Change[],
): void {
  const left = leftOf(
    present,
    new Set(changes.flatMap(({ action, calls }) => (action === 'delete' ? pathsOf(calls) : []))),
  )
  const most = {
    channel: MOST_CHANNELS,
    maintenance: MOST_MAINTENANCE,
    ...(caller.all === null ? { site: MOST_SITES, probe: MOST_PROBES } : {}),
  }
  for (const [kind, limit] of Object.entries(most)) {
    const automatic = kind === 'probe' ? changes.reduce((sum, { autoProbes = 0 }) => sum + autoProbes, 0) : 0
    const created = changes.filter(({ creates }) => creates === kind).length + automatic
    const count = left[kind as Limited] + created
    if (created === 0 || count <= limit) continue
    const many = kind === 'maintenance' ? 'maintenance windows' : `${kind}s`
    problems.push(source.problem(`the client would have ${count} ${many}, and can have ${limit}: leave some out`))
  }
}

const pathsOf = (calls: Change['calls']): string[] => calls().map(({ path }) => path)

/** How much of each kind is left of the client after these deletions. */
function leftOf(present: PresentClient | null, deleted: ReadonlySet<string>): Record<Limited, number> {
  const isLeft =
    (path: string) =>
    ({ id }: { id: string }): boolean =>
      !deleted.has(`${path}/${id}`)
  const sites = (present?.sites ?? []).filter(({ record }) => isLeft('/api/sites')(record))
  const probes = sites.flatMap((site) => site.probes).filter(({ record }) => isLeft('/api/probes')(record))
  const owners = present === null ? [] : [present, ...sites, ...probes]
  return {
    site: sites.length,
    probe: probes.length,
    channel: (present?.channels ?? []).filter(isLeft(`/api/clients/${present?.record.id}/channels`)).length,
    maintenance: owners.flatMap(({ maintenance }) => maintenance).filter(isLeft('/api/maintenance')).length,
  }
}
