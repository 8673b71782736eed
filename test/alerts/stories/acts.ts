import { acknowledgeAlert, resolveAlert } from '../../../src/alerts/handle-alert.ts'
import { handleIncident } from '../../../src/alerts/incidents/handle-incident.ts'
import { createMaintenance, removeMaintenance } from '../../../src/alerts/maintenance/maintenance.ts'
import { createSilence, removeSilence } from '../../../src/alerts/silences/silences.ts'
import { AppError, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { removeProbe, updateProbe } from '../../../src/probes/api/changes.ts'
import type { ResultStatus } from '../../../src/probes/index.ts'
import type { Random } from '../../../testkit/random.ts'
import { CHANNEL_ACTS, settleChannels } from './channel-acts.ts'
import type { Act, Story } from './story.ts'

/** Lets some probes find something else than before; a few waver all the time. */
export async function changeWorld(story: Story, random: Random, nervous: Set<string>): Promise<void> {
  for (const { id, name } of await story.probes()) {
    const now = story.found.get(id) ?? 'ok'
    if (random.chance(0.01)) nervous[nervous.has(id) ? 'delete' : 'add'](id)
    const often = nervous.has(id) ? 0.4 : now === 'ok' ? 0.02 : 0.1
    if (!random.chance(often)) continue
    const next =
      now === 'ok' || random.chance(0.3)
        ? random.pick<ResultStatus>(['warning', 'critical', 'warning', 'critical', 'error'])
        : 'ok'
    story.found.set(id, next)
    story.note(`${name} ${id.slice(-2)} is ${next}`)
  }
}

/** All that people do, and what may happen to a channel. */
const ACTS: readonly [Act, ...Act[]] = [
  ['silence the site', ({ ctx }, { siteId, ends_at }) => createSilence(ctx, { site_id: siteId, ends_at })],
  ['silence the probe', ({ ctx }, { probe, ends_at }) => createSilence(ctx, { probe_id: probe.id, ends_at })],
  ['silence it', ({ ctx }, { incident, ends_at }) => createSilence(ctx, { incident_id: incident?.id ?? '', ends_at })],
  [
    'silence it until it is resolved',
    ({ ctx }, { incident }) => createSilence(ctx, { incident_id: incident?.id ?? '', until_resolved: true }),
  ],
  [
    'work on the site',
    ({ ctx }, { siteId, ends_at }) => createMaintenance(ctx, { site_id: siteId, ...once(ctx, ends_at) }),
  ],
  [
    'work on the probe',
    ({ ctx }, { probe, ends_at }) => createMaintenance(ctx, { probe_id: probe.id, ...once(ctx, ends_at) }),
  ],
  ['end what mutes', endMutes],
  ...(['acknowledge', 'unacknowledge', 'resolve'] as const).map(
    (verb): Act => [
      `${verb} it`,
      ({ ctx, channelSettings }, { incident }) => handleIncident(ctx, channelSettings, incident?.id ?? '', verb, {}),
    ],
  ),
  ...([acknowledgeAlert, resolveAlert] as const).map(
    (handle): Act => [
      `${handle.name} of one`,
      async (story, _chosen, random) => {
        const alert = random.anyOf(await story.lastingAlerts())
        await handle(story.ctx, story.channelSettings, alert?.id ?? '', {})
      },
    ],
  ),
  [
    'switch the probe on or off',
    ({ ctx, registry }, { probe }) => updateProbe(ctx, registry, probe.id, { is_active: probe.is_active === 0 }),
  ],
  [
    'replace the probe',
    async ({ ctx, registry, addProbe }, { probe: { id, site_id, probe_type } }) => {
      await removeProbe(ctx, registry, id)
      await addProbe(site_id, probe_type)
    },
  ],
  [
    'a channel fails',
    async ({ failing, readers }, _chosen, random) => {
      const [address, reader] = random.anyOf([...readers]) ?? []
      if (address === undefined || reader === undefined) return
      reader.options.isPrompt = false
      failing.add(address)
    },
  ],
]

const once = ({ clock }: Story['ctx'], ends_at: string) =>
  ({ kind: 'once', starts_at: isoTime(clock.now()), ends_at }) as const

/** One of them, at whatever there is; what is refused changes nothing. */
export async function act(story: Story, random: Random): Promise<void> {
  const probe = random.anyOf(await story.probes())
  if (probe === undefined) return
  const lasting = (await story.incidents()).filter(({ state }) => state !== 'resolved')
  const minutes = random.pick([10, 30, 60, 180])
  const ends_at = isoTime(story.clock.now() + minutes * MINUTE)
  const chosen = { probe, incident: random.anyOf(lasting), siteId: random.pick(story.sites).id, ends_at }
  const [what, run] = random.chance(0.25) ? (random.anyOf(CHANNEL_ACTS) ?? ACTS[0]) : random.pick(ACTS)
  const of = `probe ${probe.id.slice(-2)}, incident ${chosen.incident?.id.slice(9, 13)}, site ${chosen.siteId.slice(-1)}`
  story.note(`${what} (${of}, ${minutes} min)`)
  await run(story, chosen, random).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError)) throw thrown
    story.note(`  refused: ${thrown.message}`)
  })
}

async function endMutes({ ctx, store }: Story): Promise<void> {
  for (const { id } of await store.write.selectFrom('silences').select('id').execute()) await removeSilence(ctx, id)
  for (const { id } of await store.write.selectFrom('maintenance').select('id').execute()) {
    await removeMaintenance(ctx, id)
  }
}

/** From now on all that there is may be said. */
export async function settle(story: Story): Promise<void> {
  story.note('from now on nothing changes')
  story.failing.clear()
  await endMutes(story)
  await settleChannels(story)
  for (const { id } of await story.probes()) await updateProbe(story.ctx, story.registry, id, { is_active: true })
}
