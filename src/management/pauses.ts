import type { Kysely, SiteRow, Tables } from '../store/index.ts'

interface Pause {
  from: number
  to: number
}

/**
 * Returns when the site or its client was paused, so that events were refused on purpose: each of the two oldest first. Only the audit
 * log has it.
 *
 * @param from of the interval that the pauses touch, epoch ms
 */
export async function readPauses(
  db: Kysely<Tables>,
  { id, client_id }: Pick<SiteRow, 'id' | 'client_id'>,
  from: number,
  to: number,
): Promise<Pause[]> {
  const rows = await db
    .selectFrom('audit_log')
    .select(['entity_id', 'at', 'after'])
    .where('entity_id', 'in', [id, client_id])
    .where('action', 'in', ['site.update', 'client.update'])
    .where('after', 'like', '%"is_active":%')
    .orderBy('id')
    .execute()
  const pauses = [id, client_id].flatMap((entity) =>
    pausesIn(
      rows
        .filter(({ entity_id }) => entity_id === entity)
        .map(({ at, after }) => ({ at, isActive: /"is_active":true/.test(after ?? '') })),
    ),
  )
  return pauses.filter((pause) => pause.to > from && pause.from < to)
}

/** How much of a period lies in these pauses, ms. Where those of a site and of its client overlap, both count. */
export const pausedIn = (pauses: readonly Pause[], { from, to }: Pause): number =>
  pauses.reduce((sum, pause) => sum + Math.max(0, Math.min(pause.to, to) - Math.max(pause.from, from)), 0)

function pausesIn(changes: readonly { at: number; isActive: boolean }[]): Pause[] {
  const pauses: Pause[] = []
  // The log may no longer hold the beginning of the first.
  let since: number | null = changes[0]?.isActive === true ? 0 : null
  for (const { at, isActive } of changes) {
    if (!isActive) since ??= at
    else if (since !== null) {
      pauses.push({ from: since, to: at })
      since = null
    }
  }
  return since === null ? pauses : [...pauses, { from: since, to: Number.POSITIVE_INFINITY }]
}
