import { type Clock, isoTime } from '../../../src/lib/index.ts'
import type { Context } from '../../../src/management/index.ts'
import { updateSite } from '../../../src/management/sites.ts'
import type { Store } from '../../../src/store/index.ts'

/** The log of a story, and what was found wrong in it. */
export function newLog(clock: Clock) {
  const log: string[] = []
  const wrong: string[] = []
  const entry = (text: string) => `${isoTime(clock.now()).slice(8, 16)} ${text}`
  return {
    log,
    wrong,
    note: (text: string) => log.push(entry(text)),
    blame: (text: string) => {
      log.push(entry(`!!! ${text}`))
      wrong.push(entry(text))
    },
  }
}

/**
 * Returns the ids of incidents that ended within a silence, or as their site or probe was deleted or switched off: who did that knows. An alert
 * that came later, and was over before it was confirmed, changes nothing.
 */
export async function endedUnsaid({ write }: Store): Promise<ReadonlySet<string>> {
  const incidents = await write.selectFrom('incidents').select('id').orderBy('id').execute()
  const events = await write
    .selectFrom('incident_events')
    .select(['incident_id', 'kind'])
    .where('kind', 'in', ['resolved', 'suppressed'])
    .orderBy('id')
    .execute()
  const alerts = await write.selectFrom('alerts').select(['incident_id', 'resolution', 'confirmed_at']).execute()
  const isUnsaid = ({ id }: { id: string }) =>
    events.findLast(({ incident_id }) => incident_id === id)?.kind === 'suppressed' ||
    alerts
      .filter(({ incident_id, confirmed_at }) => incident_id === id && confirmed_at !== null)
      .every(({ resolution }) => resolution === 'probe_removed')
  return new Set(incidents.filter(isUnsaid).map(({ id }) => id))
}

/** Switches a site off if it is on, and on if it is off. */
export async function switchSite(ctx: Context, siteId: string): Promise<void> {
  const { is_active } = await ctx.store.write
    .selectFrom('sites')
    .select('is_active')
    .where('id', '=', siteId)
    .executeTakeFirstOrThrow()
  await updateSite(ctx, siteId, { is_active: is_active === 0 })
}
