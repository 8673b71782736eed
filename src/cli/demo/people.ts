import { acknowledgeAlert, createMaintenance, createSilence, resolveAlert } from '../../alerts/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import type { ChannelSettings } from '../../notifications/index.ts'
import type { DemoHistory, DemoProbe } from './probes.ts'
import type { SiteProfile } from './profile.ts'
import { COFFEE, FASHION, FURNITURE } from './world.ts'

/** An action of a person at a time, epoch ms. */
export interface PersonAction {
  at: number
  do: (ctx: Context) => Promise<void>
}

/** Alerts of the history go only to the clients' own chat, regardless of the settings. */
export const OWN_CHAT_ONLY: ChannelSettings = { globalWebhook: null, isEmailOn: false }

const ON_CALL = 'Priya Nair'
const ROASTER = 'Tom Hale'

/** The actions of the sites' people during the history, oldest first. */
export function actionsOf(
  probes: readonly DemoProbe[],
  { incidents, releases, from, to }: DemoHistory,
): PersonAction[] {
  const lost = incidents.filter(({ kind }) => kind === 'transaction ids are lost')
  const roasted = releases.filter(({ site }) => site === COFFEE)
  const probeOf = (site: SiteProfile, type: string) =>
    probes.find((probe) => probe.site.profile === site && probe.row.probe_type === type)
  const quality = probeOf(FURNITURE, 'ecommerce_quality')
  const version = probeOf(COFFEE, 'tag_manager_version')
  const missing = probeOf(FASHION, 'tag_missing')
  const comment = 'The new check-out lost them with its last release. The shop is on it, a fix comes this afternoon.'
  return [
    ...lost.map((incident) => ({
      at: incident.from + 55 * MINUTE,
      do: (ctx: Context) =>
        forUnresolved(ctx, quality, (id) => acknowledgeAlert(ctx, OWN_CHAT_ONLY, id, { by: ON_CALL, comment })),
    })),
    ...roasted.map(({ at }) => ({
      at: at + 35 * MINUTE,
      do: (ctx: Context) =>
        forUnresolved(ctx, version, (id) =>
          resolveAlert(ctx, OWN_CHAT_ONLY, id, { by: ROASTER, comment: 'Planned: tags of the winter campaign.' }),
        ),
    })),
    { at: from + HOUR, do: (ctx: Context) => planMaintenance(ctx, probeOf(COFFEE, 'http_health')) },
    { at: Math.max(from + HOUR, to - DAY), do: (ctx: Context) => beSilent(ctx, missing) },
  ]
    .filter(({ at }) => from < at && at < to)
    .sort((a, b) => a.at - b.at)
}

async function forUnresolved(
  { store }: Context,
  probe: DemoProbe | undefined,
  handle: (id: string) => Promise<unknown>,
): Promise<void> {
  const alerts = await store.read
    .selectFrom('alerts')
    .select('id')
    .where('probe_id', '=', probe?.row.id ?? '')
    .where('state', '<>', 'resolved')
    .execute()
  for (const { id } of alerts) await handle(id)
}

/** Does nothing when there is maintenance already, so that a demo that continues keeps it. */
async function planMaintenance(ctx: Context, probe: DemoProbe | undefined): Promise<void> {
  const known = await ctx.store.read.selectFrom('maintenance').select('id').limit(1).executeTakeFirst()
  if (known !== undefined || probe === undefined) return
  const title = 'Updates of the tag server'
  const tuesdays = { weekdays: [2], start: '04:30', duration_minutes: 90 }
  await createMaintenance(ctx, { site_id: probe.site.row.id, title, kind: 'weekly', ...tuesdays })
}

async function beSilent(ctx: Context, probe: DemoProbe | undefined): Promise<void> {
  const now = ctx.clock.now()
  const known = await ctx.store.read
    .selectFrom('silences')
    .select('id')
    .where('ends_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  if (known !== undefined || probe === undefined) return
  const comment = 'TikTok tags are being renamed until the end of the week'
  await createSilence(ctx, { probe_id: probe.row.id, ends_at: isoTime(now + 5 * DAY), comment })
}
