import assert from 'node:assert/strict'
import { readConfig } from '../../../src/config.ts'
import type { Store } from '../../../src/store/index.ts'
import { type ApiClient, apiClient } from '../../../testkit/api.ts'
import { logicEngines, placeFor, tempDir, testPerEngine } from '../../../testkit/engines.ts'
import { amount, isInTurn } from '../../../testkit/length.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { sessionsOver } from '../../../testkit/postgres/databases.ts'
import { type ServerProcess, startServerProcess } from '../../../testkit/processes/server-process.ts'
import { Random } from '../../../testkit/random.ts'
import { until } from '../../../testkit/until.ts'
import { afterRequests, furnish, type Mood, passTime, together, World } from './crash-world.ts'

const SITES = amount(6, 20)
/** Results are written up to 100 ms after the target's answer. */
const LATER_MS = 150
const SEED = amount(1, Date.now())

interface Act {
  /** How the tag servers do, and the message about it. */
  mood: Mood
  message: string
  /** Kills while probes run. One more comes when all have run. */
  looking: number
  /** … and while messages go out. */
  sending: number
}

/** One after the other. */
const ACTS: readonly Act[] = [
  { mood: 'odd', message: 'opened', looking: amount(0, 6), sending: 1 },
  { mood: 'down', message: 'escalated', looking: amount(0, 6), sending: amount(0, 1) },
  { mood: 'well', message: 'resolved', looking: amount(0, 6), sending: amount(0, 1) },
]
const KILLS = ACTS.reduce((sum, { looking, sending }) => sum + looking + 1 + sending, 0)

/** A message that a kill leaves without its outcome goes out again: of an act, with each kill while it may be on its way. */
const STORY = new RegExp(
  `^${ACTS.map(({ message, looking, sending }) => `${message}( ${message}){0,${looking + 1 + sending}}`).join(' ')}$`,
)

testPerEngine(
  `through ${KILLS} kill -9, each incident is notified, in order, again at most once a kill, and has its alerts`,
  async (engine, t) => {
    const random = new Random(SEED)
    t.diagnostic(`seed ${SEED}`)
    const [folder, place] = [await tempDir(t), await placeFor(engine, t)]
    const environment = { ...place, OUTBOUND_ALLOW: '127.0.0.1' }
    const world = new World()
    const url = await startAnswering(t, (request, response) => world.answer(request, response))
    const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
      if (place.DATABASE_URL !== undefined) await sessionsOver(place.DATABASE_URL)
      const store = await engine.open(readConfig(environment), (error) => t.diagnostic(error.message))
      const done = await work(store)
      await store.close()
      return done
    }
    const probeIds = await withStore((store) => furnish(store, url, SITES))

    let server: ServerProcess | undefined
    const running = async () => {
      server ??= await startServerProcess(t, folder, environment)
      return { server, ...apiClient(server.url) }
    }
    const killed = async () => {
      await server?.end('SIGKILL')
      server = undefined
      await withStore(async (store) => {
        await assertWhole(store)
        await passTime(store)
      })
    }
    let kills = 0
    for (const { mood, message, looking, sending } of ACTS) {
      world.mood = mood
      const seen = new Set<string>()
      const unseen = () => probeIds.filter((id) => !seen.has(id)).sort(() => random.next() - 0.5)
      const look = async (left: readonly string[]) => {
        const { call } = await running()
        await together(left, 4, async (id) => {
          const answer = await call('POST', `/api/probes/${id}/run`).catch(() => null)
          if (answer?.status === 200) seen.add(id)
        })
      }
      for (let n = 0; n < looking; n++) {
        const { server: victim } = await running()
        const left = unseen()
        if (left.length === 0) break
        const count = 1 + random.below(Math.ceil(left.length / 2))
        const looks = look(left)
        await Promise.race([afterRequests(world, 'site', count, random.below(LATER_MS)), looks])
        victim.child.kill('SIGKILL')
        await looks
        await killed()
        kills++
      }
      await look(unseen())
      assert.equal(seen.size, probeIds.length)
      await killed()
      kills++
      const before = world.messages
      for (let n = 0; n < sending; n++) {
        // Some may be out already: an escalation waits for nothing.
        const some = afterRequests(world, 'hook', 1 + random.below(SITES - 1), 0)
        await Promise.race([some, allSent(await running(), message)])
        await killed()
        kills++
      }
      await allSent(await running(), message)
      assert.ok(world.messages >= before)
    }
    const { call } = await running()
    const incidents = (await call('GET', '/api/incidents?limit=500')).json<{ state: string; alert_count: number }[]>()
    assert.deepEqual(
      incidents.map(({ state, alert_count }) => `${state} ${alert_count}`),
      Array.from({ length: SITES }, () => 'resolved 2'),
    )
    assert.equal(await server?.end('SIGTERM'), 0)
    await withStore(assertWhole)
    assert.equal(world.accepted.size, SITES)
    let repeated = 0
    for (const [hook, messages] of world.accepted) {
      const story = messages.map(({ event }) => event).join(' ')
      assert.match(story, STORY, hook)
      assert.equal(new Set(messages.map(({ incident }) => incident.id)).size, 1, hook)
      assert.equal(new Set(messages.map(({ alert }) => alert.id)).size, 1, hook)
      const keys = new Set(messages.map(({ event, idempotency_key }) => `${event} ${idempotency_key}`))
      assert.equal(keys.size, ACTS.length, 'what is repeated has the key that it had')
      repeated += messages.length - ACTS.length
    }
    t.diagnostic(`${kills} kills, ${world.messages} messages, ${repeated} of them repeated`)
  },
  // The two stories through kill -9 take turns, this on SQLite and that of deliveries on PostgreSQL; at night both on both.
  isInTurn(0, 2) ? logicEngines : [],
)

const allSent = ({ call }: Pick<ApiClient, 'call'>, message: string) =>
  until(`nothing waits of what is ${message}`, async () => {
    const waiting = await call('GET', '/api/deliveries?state=pending&limit=1')
    return waiting.json<unknown[]>().length === 0 || undefined
  })

/** No result without what follows from it, no alert without its incident, and the messages that each is due. */
async function assertWhole({ read }: Pick<Store, 'read'>): Promise<void> {
  const results = await read.selectFrom('probe_results').select(['probe_id', 'status']).execute()
  const alerts = await read.selectFrom('alerts').selectAll().execute()
  const incidents = await read.selectFrom('incidents').selectAll().execute()
  const messages = await read.selectFrom('deliveries').select(['alert_id', 'kind', 'message']).execute()
  const begun = await read.selectFrom('incident_events').select('incident_id').where('kind', '=', 'opened').execute()

  const bad = new Set(results.flatMap(({ probe_id, status }) => (status === 'ok' ? [] : probe_id)))
  assert.deepEqual(alerts.map(({ probe_id }) => probe_id).sort(), [...bad].sort(), 'an alert for each probe')
  const ids = new Set(incidents.map(({ id }) => id))
  const lasting = new Set(alerts.flatMap(({ state, incident_id }) => (state === 'resolved' ? [] : incident_id)))
  for (const alert of alerts) assert.ok(ids.has(alert.incident_id ?? ''), 'an incident for each alert')
  assert.equal(new Set(incidents.map(({ site_id }) => site_id)).size, incidents.length, 'one incident for each site')
  assert.deepEqual(begun.map(({ incident_id }) => incident_id).sort(), [...ids].sort(), 'a timeline for each incident')
  for (const incident of incidents) {
    const own = alerts.filter(({ incident_id }) => incident_id === incident.id)
    assert.ok(own.length > 0, 'alerts of each incident')
    assert.equal(incident.state !== 'resolved', lasting.has(incident.id), 'it lasts as long as its alerts')
    const kinds = messages.flatMap(({ alert_id, kind }) => (alert_id === incident.announced_alert_id ? kind : []))
    const isCritical = own.some(({ severity }) => severity === 'critical')
    const due = ['opened', ...(isCritical ? ['escalated'] : []), ...(incident.state === 'resolved' ? ['resolved'] : [])]
    assert.deepEqual(kinds.sort(), due.sort(), 'the messages of each incident')
  }
  const voices = new Set(incidents.map(({ announced_alert_id }) => announced_alert_id))
  for (const { alert_id } of messages) assert.ok(voices.has(alert_id), 'no message about nothing')
}
