import { HOUR, isoTime } from '../../../src/lib/index.ts'
import { type KnownPush, type KnownSite, STEP, type Story } from './story.ts'

interface Lasting {
  id: string
  title: string
  state: string
}
interface Mute {
  id: string
}

/** All that people do: each returns what it did, or null where there is nothing to do it to. */
const ACTS: readonly [(story: Story) => Promise<string | null>, ...((story: Story) => Promise<string | null>)[]] = [
  (story) => handle(story, 'incidents', 'acknowledge'),
  (story) => handle(story, 'incidents', 'unacknowledge'),
  (story) => handle(story, 'incidents', 'resolve'),
  (story) => handle(story, 'alerts', 'acknowledge'),
  (story) => handle(story, 'alerts', 'resolve'),
  (story) => mute(story, 'silences'),
  (story) => mute(story, 'silences'),
  (story) => mute(story, 'maintenance'),
  (story) => mute(story, 'maintenance'),
  (story) => unmute(story),
  (story) => switchProbe(story),
  (story) => switchProbe(story),
  (story) => switchSite(story),
  (story) => switchSite(story),
  (story) => switchClient(story),
  (story) => deleteProbe(story),
  (story) => addProbe(story),
  (story) => takeChannel(story),
]

/** Returns what someone did; null where there was nothing to do it to. */
export async function act(story: Story): Promise<string | null> {
  const done = await story.random.pick(ACTS)(story)
  if (done !== null) story.note(done)
  return done
}

/** What the world does in a step: every site sends, and some of what is watched is other than before. */
export async function changeWorld(story: Story): Promise<void> {
  const { random, sites, pushes, server, refused } = story
  if (random.chance(0.15)) server.status = server.status === 200 ? 503 : 200
  for (const site of sites) {
    if (random.chance(0.12)) refused[refused.has(site.id) ? 'delete' : 'add'](site.id)
    if (random.chance(0.85)) await story.send(site, refused.has(site.id) ? 20 : 0)
  }
  for (const probe of pushes) {
    if (!random.chance(0.3)) continue
    const status = random.pick(['ok', 'ok', 'warning', 'critical'])
    story.note(`${probe.id.slice(0, 4)} says ${status}`)
    await story.push(probe, status)
  }
}

async function handle({ admin, random }: Story, what: 'incidents' | 'alerts', verb: string): Promise<string | null> {
  const one = random.anyOf(await admin.ask<Lasting[]>('GET', `/api/${what}?resolved=false&limit=100`))
  if (one === undefined) return null
  await admin.ask('POST', `/api/${what}/${one.id}/${verb}`, {})
  return `${verb} ${one.title}`
}

async function mute({ admin, random, clock, ...story }: Story, what: 'silences' | 'maintenance') {
  const incident = random.anyOf(await admin.ask<Lasting[]>('GET', '/api/incidents?resolved=false&limit=100'))
  const scopes: readonly object[] = [
    { client_id: random.anyOf(story.clients)?.id },
    { site_id: random.anyOf(story.sites)?.id },
    { probe_id: random.anyOf(story.pushes)?.id },
    ...(what === 'silences' && incident !== undefined ? [{ incident_id: incident.id }] : []),
  ]
  const scope = random.anyOf(scopes)
  const starts = clock.now() + (random.chance(0.3) ? STEP : 0)
  const ends_at = isoTime(starts + random.pick([1, 2, 5]) * HOUR)
  const times = { starts_at: isoTime(starts), ends_at, ...(what === 'maintenance' && { kind: 'once' }) }
  await admin.ask('POST', `/api/${what}`, { ...scope, ...times })
  return `${what} of ${JSON.stringify(scope)} until ${ends_at}`
}

async function unmute({ admin, random }: Story): Promise<string | null> {
  const what = random.pick(['silences', 'maintenance'])
  const one = random.anyOf(await admin.ask<Mute[]>('GET', `/api/${what}?active_only=true`))
  if (one === undefined) return null
  await admin.ask('DELETE', `/api/${what}/${one.id}`)
  return `end of ${what} ${one.id}`
}

async function switchProbe({ admin, random, pushes }: Story): Promise<string | null> {
  const probe = pickPush(random.anyOf(pushes.filter(({ isActive }) => !isActive)), random.anyOf(pushes))
  if (probe === undefined) return null
  probe.isActive = !probe.isActive
  await admin.ask('PATCH', `/api/probes/${probe.id}`, { is_active: probe.isActive })
  return `${probe.isActive ? 'resume' : 'pause'} probe ${probe.id.slice(0, 4)}`
}

const pickPush = (paused: KnownPush | undefined, any: KnownPush | undefined) => paused ?? any

async function switchSite({ admin, random, sites }: Story): Promise<string | null> {
  const site: KnownSite | undefined = random.anyOf(sites.filter(({ isActive }) => !isActive)) ?? random.anyOf(sites)
  if (site === undefined) return null
  site.isActive = !site.isActive
  await admin.ask('PATCH', `/api/sites/${site.id}`, { is_active: site.isActive })
  return `${site.isActive ? 'resume' : 'pause'} ${site.name}`
}

async function switchClient({ admin, random, clients }: Story): Promise<string | null> {
  const client = random.anyOf(clients.filter(({ isActive }) => !isActive)) ?? random.anyOf(clients)
  if (client === undefined) return null
  client.isActive = !client.isActive
  await admin.ask('PATCH', `/api/clients/${client.id}`, { is_active: client.isActive })
  return `${client.isActive ? 'resume' : 'pause'} ${client.name}`
}

async function deleteProbe({ admin, random, pushes }: Story): Promise<string | null> {
  const probe = pushes.length > 4 ? random.anyOf(pushes) : undefined
  if (probe === undefined) return null
  pushes.splice(pushes.indexOf(probe), 1)
  await admin.ask('DELETE', `/api/probes/${probe.id}`)
  return `delete probe ${probe.id.slice(0, 4)}`
}

async function addProbe({ random, sites, addPush }: Story): Promise<string | null> {
  const site = random.anyOf(sites)
  if (site === undefined) return null
  await addPush(site.id, `job ${random.below(1_000)}`)
  return `new probe of ${site.name}`
}

async function takeChannel({ admin, acme, reachable }: Story): Promise<string> {
  reachable.acme = !reachable.acme
  await admin.ask('PATCH', `/api/clients/${acme.id}`, { email: reachable.acme ? 'ops@acme.example' : null })
  return `${acme.name} has ${reachable.acme ? 'a' : 'no'} channel`
}

/** At last a site goes, with all that was known of it. */
export async function deleteSite({ admin, sites, pushes, note }: Story, site: KnownSite): Promise<string> {
  await admin.ask('DELETE', `/api/sites/${site.id}`)
  sites.splice(sites.indexOf(site), 1)
  for (const probe of pushes.filter(({ siteId }) => siteId === site.id)) pushes.splice(pushes.indexOf(probe), 1)
  note(`delete ${site.name}`)
  return `delete ${site.name}`
}
