import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { LATE_ESTIMATED_MS } from '../../../src/alerts/incidents/steady.ts'
import { readConfig } from '../../../src/config.ts'
import { HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { newPostgres, placeFor, testLogic, testPerEngine } from '../../../testkit/engines.ts'
import { amount, isInTurn } from '../../../testkit/length.ts'
import { Random } from '../../../testkit/random.ts'
import { until } from '../../../testkit/until.ts'
import { act, changeWorld, settle } from './acts.ts'
import { endedUnsaid } from './shared.ts'
import { beginStory, OTHER, type Story } from './story.ts'

const STEP = 5 * MINUTE
/** By then what waits is due: a warning for 20 minutes, a message held by a silence for two more, a channel that failed for ten. */
const PATIENCE = 45 * MINUTE
/** On the operator's channel ends wait twelve hours for company, after two in which they may be taken back. */
const LONGEST = 18 * HOUR

for (const seed of Array.from({ length: amount(1, 24) }, (_, n) => n + 1)) {
  testLogic(
    `whatever happens, who reads one channel knows what is wrong, and what is over (story ${seed})`,
    async (store, t) => {
      const random = new Random(seed)
      const story = await beginStory(t, store, random)
      const nervous = new Set<string>()
      let mutedAt = story.clock.now()
      for (let n = 0; n < 120; n++) {
        await changeWorld(story, random, nervous)
        if (random.chance(0.12)) await act(story, random)
        if (random.chance(0.2)) story.failing.clear()
        if (await isMuted(story)) mutedAt = story.clock.now()
        await story.pass(STEP)
        if (story.clock.now() - mutedAt >= PATIENCE) await listen(story)
      }
      await settle(story)
      for (let ms = 0; ms < LONGEST; ms += 6 * STEP) await story.pass(6 * STEP)
      await listen(story)
      await lookBack(story)
      if (story.wrong.length > 0) t.diagnostic(story.log.join('\n'))
      assert.deepEqual(story.wrong, [])
    },
  )
}

/** More than a store has of each kind. */
const SESSIONS = 20

/** What happens to a node as it works. */
const FATES = ['dies as it sends', 'dies as it sends', 'dies', 'loses its connections', 'lives', 'lives'] as const

for (const seed of Array.from({ length: amount(1, 12) }, (_, n) => n + 1)) {
  testPerEngine(
    `two nodes that judge, deliver and are handled at the same time, and die in the middle, say all of it in order and once (story ${seed})`,
    async (engine, t) => {
      const random = new Random(seed)
      const environment = await placeFor(engine, t)
      const open = async () => {
        const store = await engine.open(readConfig(environment), () => undefined)
        t.after(() => store.close())
        return store
      }
      const [store, other] = [await open(), await open()]
      const story = await beginStory(t, store, random, [{ store: other, aheadMs: random.below(2_000) }])
      const nervous = new Set<string>()
      let mutedAt = story.clock.now()
      const noteMutes = async () => {
        if (!(await isMuted(story))) return
        mutedAt = story.clock.now()
        for (const { beliefs } of story.readers.values()) {
          for (const belief of beliefs.values()) belief.mayRise = true
        }
      }
      let deaths = 0
      for (let n = 0; n < amount(12, 60); n++) {
        await changeWorld(story, random, nervous)
        if (random.chance(0.2)) story.failing.clear()
        await noteMutes()
        const fate = random.pick(FATES)
        const isCut = fate === 'loses its connections'
        story.ctx.store = random.pick([store, other])
        const doing = [story.pass(STEP, isCut)]
        if (fate === 'dies as it sends') {
          story.afterReading.run = async (service) => {
            story.note(`node ${service} dies as it sends`)
            story.afterReading.run = null
            deaths++
            await story.restart(service)
            await new Promise(() => undefined)
          }
        }
        if (isCut) doing.push(cut(random.below(300)))
        if (!isCut && random.chance(0.3)) doing.push(act(story, random))
        await Promise.all(doing)
        if (isCut) await connected()
        if (fate === 'dies') await story.restart(random.below(2))
        await noteMutes()
        if (story.clock.now() - mutedAt >= PATIENCE) await listen(story)
      }
      story.afterReading.run = null
      await settle(story)
      for (let ms = 0; ms < LONGEST; ms += 12 * STEP) await story.pass(12 * STEP)
      await listen(story)
      await lookBack(story)
      t.diagnostic(`${deaths} deaths while sending, ${story.repeats.length} messages repeated`)
      if (story.wrong.length > 0) t.diagnostic(story.log.join('\n'))
      assert.deepEqual(story.wrong, [])

      async function connected(): Promise<void> {
        for (const db of [store, other].flatMap(({ read, write }) => [read, write])) {
          const onEach = () => Promise.all(Array.from({ length: SESSIONS }, () => sql`select 1`.execute(db)))
          await until('its sessions are new', () => onEach().catch(() => undefined))
        }
      }

      async function cut(afterMs: number): Promise<void> {
        await sleep(afterMs)
        const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(store.admin)
        const some = rows.filter(() => random.chance(0.6))
        for (const { pid } of some) await sql`select pg_terminate_backend(${pid})`.execute(store.admin)
        story.note(`${some.length} connections are cut`)
      }
    },
    isInTurn(1, 3) ? [newPostgres] : [],
  )
}

async function isMuted({ store, clock, failing, broken, addresses, client }: Story): Promise<boolean> {
  const time = isoTime(clock.now()).slice(11, 16)
  if (client.quiet_from !== null && client.quiet_to !== null && time >= client.quiet_from && time <= client.quiet_to)
    return true
  const lasting = [
    store.write.selectFrom('silences').select('id').where('ends_at', '>', clock.now()),
    store.write.selectFrom('maintenance').select('id').where('ends_at', '>', clock.now()),
  ]
  const found = await Promise.all(lasting.map((query) => query.execute()))
  return failing.size > 0 || broken.has(addresses.chat_webhook) || found.flat().length > 0
}

/** Nothing that has lasted for long is unknown to who reads a channel that takes all, but for what is found late and may be of what is over. */
async function listen(story: Story): Promise<void> {
  const now = story.clock.now()
  const soon = (await story.incidents()).filter(
    ({ resolved_at, last_announced_at }) =>
      now - (resolved_at ?? 0) <= LATE_ESTIMATED_MS + STEP || now - (last_announced_at ?? 0) < PATIENCE,
  )
  // What outlasts its cause may be what makes another incident come back, as a warning that waits.
  const joined = await story.store.write
    .selectFrom('incident_events')
    .select('incident_id')
    .where('kind', 'in', ['joined', 'reopened'])
    .where('at', '>', now - PATIENCE)
    .execute()
  const late = new Set([...soon.map(({ id }) => id), ...joined.map(({ incident_id }) => incident_id)])
  for (const { title, confirmed_at, incident_id, client_id } of await story.lastingAlerts()) {
    if (confirmed_at === null || confirmed_at >= now - PATIENCE || late.has(incident_id ?? '')) continue
    const known = story.readers
      .get(client_id === story.client.id ? story.addresses.chat_webhook : OTHER)
      ?.beliefs.get(incident_id ?? '')
    if (known?.isOpen !== true) story.blame(`no one knows of “${title}” of incident ${incident_id?.slice(9, 13)}`)
  }
}

/** No one believes that something lasts which is over, or that what is critical is a warning. */
async function lookBack(story: Story): Promise<void> {
  const unsaid = await endedUnsaid(story.store)
  const incidents = new Map((await story.incidents()).map((incident) => [incident.id, incident]))
  for (const [address, { beliefs, options }] of story.readers) {
    const isKeeper = options.isKeeper === true
    for (const [id, { isOpen, isStale, severity }] of beliefs) {
      const incident = incidents.get(id)
      const what = `“${incident?.title}” (${id.slice(9, 13)})`
      if (!isOpen || isStale === true) continue
      // Of a site that was deleted who did that knows, and of a channel that was given another key nothing lasts.
      const lasts = incident !== undefined && incident.state !== 'resolved' && !story.former.has(address)
      const hearsEnd = isKeeper || (options.wantsEnds && incident !== undefined && !unsaid.has(id))
      if (!lasts && hearsEnd) story.blame(`${address} believes that ${what} lasts`)
      const isWorse =
        incident !== undefined &&
        incident.state !== 'resolved' &&
        incident.severity === 'critical' &&
        severity === 'warning'
      if (isWorse && options.isPerson && !options.mayJoin && options.wantsEscalations)
        story.blame(`${address} takes ${what} for a warning`)
    }
  }
}
