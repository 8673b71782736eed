import assert from 'node:assert/strict'
import { handleIncident } from '../../../src/alerts/incidents/handle-incident.ts'
import { incidentsSince } from '../../../src/alerts/incidents/of-period.ts'
import { readIncident } from '../../../src/alerts/incidents/read-incidents.ts'
import { createSilence, removeSilence } from '../../../src/alerts/silences/silences.ts'
import { AppError, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { updateSite } from '../../../src/management/sites.ts'
import { sharedIncident } from '../../../src/sharing/shared-incident.ts'
import { logicEngines, sqlite, testOnEveryEngine } from '../../../testkit/engines.ts'
import { amount, isInTurn } from '../../../testkit/length.ts'
import { Random } from '../../../testkit/random.ts'
import { endedUnsaid, switchSite } from './shared.ts'
import { beginVendorStory, type Mood, NAMES, type VendorStory } from './vendor-story.ts'

const STEP = 5 * MINUTE
/** By then what waits is due: a warning for 20 minutes, a message held by a silence for two more. */
const PATIENCE = 45 * MINUTE
/** On the operator's channel ends wait twelve hours for company, after two in which they may be taken back. */
const LONGEST = 18 * HOUR
/** Stories told on each engine, as one takes a minute or two on PostgreSQL. */
const ON_EVERY_ENGINE = 4

for (const seed of Array.from({ length: amount(1, 24) }, (_, n) => n + 1)) {
  testOnEveryEngine(
    `a vendor that fails on sites of many clients is known to the operator, and each client knows of its own alone (story ${seed})`,
    async (store, t) => {
      const random = new Random(seed)
      const story = await beginVendorStory(t, store, random)
      let mutedAt = story.clock.now()
      let isDown = false
      for (let n = 0; n < amount(30, 60); n++) {
        if (random.chance(isDown ? 0.1 : 0.15)) {
          isDown = !isDown
          story.note(`the vendor ${isDown ? 'fails' : 'is back'}`)
        }
        changeMoods(story, random, isDown)
        if (random.chance(0.12)) await act(story, random)
        if (await isMuted(story)) {
          mutedAt = story.clock.now()
          for (const { beliefs } of [story.operator, ...story.readers.values()]) {
            for (const belief of beliefs.values()) belief.mayRise = true
          }
        }
        await story.pass(STEP)
        await look(story)
        if (n % 5 === 0) await readAsClients(story)
        if (story.clock.now() - mutedAt >= PATIENCE) await listen(story)
      }
      story.note('all is well')
      story.moods.clear()
      await endSilences(story)
      for (const { id } of story.sites) await updateSite(story.ctx, id, { is_active: true })
      for (let ms = 0; ms < LONGEST; ms += 6 * STEP) await story.pass(6 * STEP)
      await lookBack(story)
      if (story.wrong.length > 0) t.diagnostic(story.log.join('\n'))
      assert.deepEqual(story.wrong, [])
    },
    isInTurn(0, 2) ? (seed <= ON_EVERY_ENGINE ? logicEngines : [sqlite]) : [],
  )
}

function changeMoods(story: VendorStory, random: Random, isDown: boolean): void {
  for (const { id, name } of story.sites) {
    const now = story.moodOf(id)
    const next: Mood = { ...now }
    const fails = now.tag === 'ok' ? (isDown ? 0.5 : 0.005) : 0
    if (random.chance(fails)) next.tag = random.pick(['warning', 'critical'])
    else if (now.tag !== 'ok' && random.chance(isDown ? 0.03 : 0.3)) next.tag = 'ok'
    else if (now.tag !== 'ok' && random.chance(0.1)) next.tag = random.pick(['warning', 'critical'])
    if (random.chance(now.server === 'ok' ? 0.01 : 0.1))
      next.server = now.server === 'ok' ? random.pick(['warning', 'critical']) : 'ok'
    if (next.tag === now.tag && next.server === now.server) continue
    story.moods.set(id, next)
    story.note(`${name}: tag ${next.tag}, server ${next.server}`)
  }
}

type Act = readonly [
  what: string,
  run: (
    story: VendorStory,
    chosen: { siteId: string; clientId: string; incidentId: string; ends_at: string },
  ) => Promise<unknown>,
]

const ACTS: readonly [Act, ...Act[]] = [
  ['silence the client', ({ ctx }, { clientId, ends_at }) => createSilence(ctx, { client_id: clientId, ends_at })],
  ['silence the site', ({ ctx }, { siteId, ends_at }) => createSilence(ctx, { site_id: siteId, ends_at })],
  ['silence it', ({ ctx }, { incidentId, ends_at }) => createSilence(ctx, { incident_id: incidentId, ends_at })],
  ['end what mutes', (story) => endSilences(story)],
  ['delete the site', ({ deleteSite }, { siteId }) => deleteSite(siteId)],
  ['switch the site on or off', ({ ctx }, { siteId }) => switchSite(ctx, siteId)],
  ...(['acknowledge', 'unacknowledge', 'resolve'] as const).map(
    (verb): Act => [
      `${verb} it`,
      ({ ctx, channelSettings }, { incidentId }) => handleIncident(ctx, channelSettings, incidentId, verb, {}),
    ],
  ),
]

async function act(story: VendorStory, random: Random): Promise<void> {
  const site = random.anyOf(story.sites)
  if (site === undefined) return
  const lasting = (await story.incidents()).filter(({ state }) => state !== 'resolved')
  const incident = random.anyOf(lasting)
  const ends_at = isoTime(story.clock.now() + random.pick([10, 30, 60, 180]) * MINUTE)
  const [what, run] = random.pick(ACTS)
  if (what === 'delete the site' && story.sites.length < 6) return
  story.note(`${what} (${site.name}, ${incident?.scope} ${incident?.id.slice(9, 13)}, until ${ends_at.slice(11, 16)})`)
  const chosen = { siteId: site.id, clientId: site.client_id, incidentId: incident?.id ?? '', ends_at }
  await run(story, chosen).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError)) throw thrown
    story.note(`  refused: ${thrown.message}`)
  })
}

async function endSilences({ ctx, store }: VendorStory): Promise<void> {
  for (const { id } of await store.write.selectFrom('silences').select('id').execute()) await removeSilence(ctx, id)
}

async function isMuted({ store, clock }: VendorStory): Promise<boolean> {
  const lasting = store.write.selectFrom('silences').select('id').where('ends_at', '>', clock.now())
  return (await lasting.execute()).length > 0
}

/** What is true at any time, whatever is said. */
async function look(story: VendorStory): Promise<void> {
  const incidents = await story.incidents()
  const byId = new Map(incidents.map((incident) => [incident.id, incident]))
  const lasting = incidents.filter(({ state }) => state !== 'resolved')
  for (const { id, title, scope } of lasting) {
    const above = new Set([id])
    for (let at = byId.get(id)?.parent_id ?? null; at !== null; at = byId.get(at)?.parent_id ?? null) {
      if (above.has(at)) story.blame(`“${title}” explains itself`)
      if (above.has(at)) break
      above.add(at)
    }
    const parts = incidents.filter(({ parent_id }) => parent_id === id)
    if (scope !== 'vendor') continue
    if (parts.every(({ state }) => state === 'resolved')) story.blame(`“${title}” lasts on no site`)
  }
}

/** What a client may see names no other, and holds all that lasts on its sites. */
async function readAsClients(story: VendorStory): Promise<void> {
  const { store, clients, blame } = story
  for (const [name, { id: clientId }] of clients) {
    const { incidents } = await incidentsSince(store.read, [clientId], 0)
    const lasting = incidents.filter(({ resolved_at }) => resolved_at === null)
    const pages = await Promise.all(lasting.map(({ id }) => readIncident(store, id, false)))
    const text = JSON.stringify([incidents, pages, pages.map(sharedIncident)])
    const foreign = NAMES.filter((other) => other !== name && text.includes(other))
    if (foreign.length > 0) blame(`${name} can read of ${foreign}`)
    const shown = new Set(pages.flatMap(({ alerts }) => alerts.map(({ id }) => id)))
    for (const { id, title, client_id, confirmed_at, site_id, incident_id } of await story.lastingAlerts()) {
      if (client_id !== clientId || confirmed_at === null || shown.has(id)) continue
      const site = story.sites.find((one) => one.id === site_id)
      const { is_active } = await store.read
        .selectFrom('sites')
        .select('is_active')
        .where('id', '=', site?.id ?? '')
        .executeTakeFirstOrThrow()
      // What is found late may be of what is over.
      const incident = (await story.incidents()).find((one) => one.id === incident_id)
      if (is_active === 1 && incident?.state !== 'resolved') blame(`${name} does not see “${title}”`)
    }
  }
}

/** Nothing that has lasted for long is unknown to the client, or to the operator, but for what is found late and may be of what is over. */
async function listen(story: VendorStory): Promise<void> {
  const now = story.clock.now()
  const incidents = new Map((await story.incidents()).map((incident) => [incident.id, incident]))
  const joined = await story.store.write
    .selectFrom('incident_events')
    .select('incident_id')
    .where('kind', 'in', ['joined', 'reopened'])
    .where('at', '>', now - PATIENCE)
    .execute()
  const late = new Set(joined.map(({ incident_id }) => incident_id))
  for (const { title, confirmed_at, incident_id, client_id } of await story.lastingAlerts()) {
    const incident = incidents.get(incident_id ?? '')
    if (confirmed_at === null || confirmed_at >= now - PATIENCE || incident === undefined) continue
    if (late.has(incident.id) || incident.state === 'resolved') continue
    if (now - (incident.last_announced_at ?? 0) < PATIENCE) continue
    const client = [...story.clients.values()].find(({ id }) => id === client_id)
    const isKnown = story.readers.get(client?.chat_webhook ?? '')?.beliefs.get(incident.id)?.isOpen === true
    const what = `“${title}” of incident ${incident.id.slice(9, 13)}`
    if (!isKnown) story.blame(`${client?.name} does not know of ${what}`)
    const isSaid = story.operator.beliefs.get(incident.id)?.isOpen === true
    const isOfVendor = (story.vendors.get(incident.parent_id ?? '') ?? 'over') !== 'over'
    if (!isSaid && !isOfVendor) story.blame(`the operator does not know of ${what}`)
  }
}

/** No one believes that something lasts which is over. */
async function lookBack(story: VendorStory): Promise<void> {
  const unsaid = await endedUnsaid(story.store)
  const incidents = new Map((await story.incidents()).map((incident) => [incident.id, incident]))
  for (const [address, { beliefs }] of [...story.readers, ['operator', story.operator] as const]) {
    for (const [id, { isOpen }] of beliefs) {
      const incident = incidents.get(id)
      if (!isOpen || incident === undefined || unsaid.has(id)) continue
      story.blame(`${address} believes that “${incident.title}” (${id.slice(9, 13)}, ${incident.state}) lasts`)
    }
  }
  for (const [id, state] of story.vendors) {
    const { title } = incidents.get(id) ?? {}
    if (state !== 'over') story.blame(`the operator believes that “${title}” lasts`)
  }
}
