import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { eventsOf } from '../../../src/cli/demo/events.ts'
import { incidentsAround } from '../../../src/cli/demo/incidents.ts'
import { OUTDOOR } from '../../../src/cli/demo/world.ts'
import { readConfig } from '../../../src/config.ts'
import { HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import type { ReconciliationAnswer } from '../../../src/reconciliation/index.ts'
import { migrate, openStore } from '../../../src/store/index.ts'
import { apiClient } from '../../../testkit/api.ts'
import { placeFor, postgres, tempDir } from '../../../testkit/engines.ts'
import { inTurn } from '../../../testkit/length.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { runCliHere } from '../../../testkit/processes/command-here.ts'
import { startCli } from '../../../testkit/processes/command-line.ts'
import { READY } from '../../../testkit/processes/server-process.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { until } from '../../../testkit/until.ts'
import { withStore } from '../databases.ts'

/** As many as a demo has by default: those who start it find what its past is said to hold. */
const DAYS = 8

/** Settings of a service that lead elsewhere: none of them may reach the demo. */
const REACH = {
  ROLE: 'worker',
  CHAT_WEBHOOK_URL: 'https://chat.example/hook',
  SMTP_URL: 'smtp://mail.example:587',
  SMTP_FROM: 'alerts@example.com',
  HEARTBEAT_URL: 'https://watch.example/beat',
}

interface Site {
  id: string
  name: string
}
interface Alert {
  id: string
  site_id: string
  probe_type: string
  severity: string
  title: string
  opened_at: string
  resolved_at: string | null
}
interface Probe {
  id: string
  probe_type: string
  last_status: string | null
}
interface Overview {
  total_events: number
  tags: { tag_key: string; executions: number; failure: number }[]
  score: { inputs: { uncapped: number } }
}

async function startDemo(t: TestContext, settings: Record<string, string>, dataDir: string, ...args: string[]) {
  const demo = await startCli(t, ['demo', '--data-dir', dataDir, '--port', '0', ...args], settings)
  const url = await demo.printed(READY)
  const api = apiClient(url)
  const sites = (await api.call('GET', '/api/sites')).json<Site[]>()
  const report = async <T>(site: Site | undefined, path: string) =>
    (await api.call('GET', `/api/monitoring/sites/${site?.id}/${path}`)).json<T>()
  const list = async <T>(path: string) => (await api.call('GET', `/api/${path}`)).json<T>()
  return { ...demo, url, sites, report, list }
}

test('the demo', inTurn(1, 3), async (t) => {
  const dataDir = await tempDir(t)
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  const settings = { ...REACH, DATABASE_URL, DATABASE_READ_URL: DATABASE_URL }
  const first = await startDemo(t, settings, dataDir, '--days', String(DAYS), '--no-simulate')
  const [outdoor] = first.sites
  const beganAt = Date.now()
  const past = `overview?from=${isoTime(beganAt - 50 * HOUR)}&to=${isoTime(beganAt - HOUR)}`
  const before = await first.report<Overview>(outdoor, past)

  await t.test('serves a history with an incident under way', async () => {
    assert.equal(first.sites.length, 4)
    assert.equal(outdoor?.name, 'Feldkamp Outdoor')
    for (const site of first.sites) {
      const day = await first.report<Overview>(site, 'overview')
      assert.ok(day.total_events > 5_000, `${site.name}: ${day.total_events}`)
      // Whatever alert the first probes have opened by now.
      assert.ok(day.score.inputs.uncapped > 70, `${site.name}: ${day.score.inputs.uncapped}`)
    }
    const start = startOf(first.out)
    const [from, to] = [start - 38 * MINUTE, start]
    const recent = await first.report<Overview>(outdoor, `overview?from=${isoTime(from)}&to=${isoTime(to)}`)
    const meta = recent.tags.find(({ tag_key }) => tag_key === 'Meta CAPI')
    assert.deepEqual({ executions: meta?.executions, failure: meta?.failure }, outcomesOfMeta(start, from, to))
    assert.ok(first.out.some((line) => line.includes('Meta CAPI fails on about 64 % of purchase events')))
    assert.ok(first.out.some((line) => line === `  ${first.url}/sites/${outdoor?.id}`))
    assert.equal(
      first.out.find((line) => line.startsWith('  http')),
      `  ${first.url}/`,
    )
  })

  await t.test(
    'has probes with results, deploys, and an alert about the incident that names the deploy before it',
    async () => {
      const probes = await first.list<Probe[]>('probes')
      assert.equal(probes.length, 68)
      const asked = probes.filter(({ probe_type }) =>
        ['http_health', 'tag_manager_version', 'image_version'].includes(probe_type),
      )
      assert.equal(asked.length, 12)
      for (const { id, probe_type } of probes) {
        const results = await first.list<{ status: string; message: string }[]>(`probes/${id}/results?limit=50`)
        const isOfBatches = probe_type === 'data_freshness' && results.length < 10
        assert.ok(results.length === 50 || isOfBatches, `${probe_type}: ${results.length}`)
        assert.deepEqual(
          results.filter(({ status }) => status === 'error'),
          [],
        )
      }
      for (const { last_status } of asked) assert.equal(last_status, 'ok')

      const unresolved = await first.list<Alert[]>(`alerts?resolved=false&site_id=${outdoor?.id}`)
      // At five in the morning so few executions are counted that it is no more than a warning at times.
      const [alert, ...others] = unresolved.filter(
        ({ probe_type, severity }) => probe_type === 'tag_failure_rate' || severity === 'critical',
      )
      assert.ok(alert !== undefined && others.length === 0, JSON.stringify(unresolved))
      assert.match(alert.title, /“Meta CAPI” failed/)
      const { change } = await first.list<{ change: string | null }>(`alerts/${alert.id}`)
      assert.match(change ?? '', /^\d+ min after web container 41 → 42$/)
      const vendors = await first.list<{ title: string; site_count: number }[]>('incidents?resolved=false&scope=vendor')
      // At that time the smallest of the three sites is found up to half an hour later than the others, and two sites are no vendor's fault.
      const failing = (await first.list<Alert[]>('alerts?resolved=false')).filter(({ title }) =>
        /“Meta CAPI” failed/.test(title),
      )
      assert.deepEqual(
        vendors.map(({ title, site_count }) => [title.replace(/\d sites$/, ''), site_count]),
        failing.length === 2 ? [] : [['Meta tags fail on 3 of ', 3]],
      )
      const age = Date.now() - Date.parse(alert.opened_at)
      assert.ok(age > 15 * MINUTE && age < 50 * MINUTE, `${age}`)
      const over = await first.list<Alert[]>('alerts?resolved=true')
      const found = new Set(over.map(({ probe_type }) => probe_type))
      for (const type of ['data_volume', 'consent_signals', 'duplicates', 'vendor_status', 'ecommerce_quality']) {
        assert.ok(found.has(type), type)
      }
      assert.equal((await first.list<unknown[]>('silences?active_only=true')).length, 1)
      assert.equal((await first.list<unknown[]>('maintenance?active_only=true')).length, 1)
      await until('all messages are delivered', async () => {
        const deliveries = await first.list<{ state: string }[]>('deliveries')
        return (deliveries.length > 0 && deliveries.every(({ state }) => state === 'delivered')) || undefined
      })
      assert.match(
        await (await fetch(await first.printed(/(http:\/\/127\.0\.0\.1:\d+\/chat)$/))).text(),
        /Messages of the demo/,
      )
    },
  )

  await t.test('has what the furniture shop itself counted, a little more than arrived', async () => {
    const maple = first.sites.find(({ name }) => name === 'Maple & Birch Furniture')
    const { captured, missing_hours, shift } = await first.list<ReconciliationAnswer>(
      `sites/${maple?.id}/reconciliation?source=shop&event=purchase&days=${DAYS}`,
    )
    assert.ok(captured !== null && Math.abs(captured - 0.94) < 0.01, String(captured))
    assert.ok(missing_hours < 24, String(missing_hours))
    assert.equal(shift?.hours, 0)
  })

  await t.test('keeps to its folder and notifies only its own chat, whatever the settings say', async () => {
    const reach = await first.list<{ email_enabled: boolean; channels: { client_id: string | null }[] }>('channels')
    assert.equal(reach.email_enabled, false)
    const clients = await first.list<{ id: string; chat_webhook: string | null }[]>('clients')
    assert.deepEqual(
      reach.channels.map(({ client_id }) => client_id),
      clients.map(({ id }) => id),
    )
    for (const { chat_webhook } of clients) {
      assert.match(chat_webhook ?? '', /^http:\/\/127\.0\.0\.1:\d+\/chat\/hook\//)
    }
    const elsewhere = await openStore(readConfig({ DATABASE_URL }), (error) => assert.fail(error))
    for (const table of ['nodes', 'clients'] as const) {
      assert.deepEqual(await elsewhere.read.selectFrom(table).selectAll().execute(), [], table)
    }
    await elsewhere.close()
  })

  first.child.kill('SIGTERM')
  const { code, err } = await first.finished
  assert.equal(code, 0)
  assert.equal(err.filter((line) => line.startsWith('writing history: ')).length, 10)
  const second = await startDemo(t, settings, dataDir, '--days', String(DAYS))

  await t.test('continues with its history the next time', async () => {
    assert.deepEqual(
      second.sites.map(({ id }) => id),
      first.sites.map(({ id }) => id),
    )
    // The second writes on from where the first stopped, which moves when something was last seen.
    const whenever = (report: Overview) =>
      JSON.parse(JSON.stringify(report, (key, value: unknown) => (key === 'last_seen' ? undefined : value))) as unknown
    assert.deepEqual(whenever(await second.report<Overview>(outdoor, past)), whenever(before))
  })

  await t.test('sends live traffic through the ingest endpoint until SIGTERM', async () => {
    await until('a payload is accepted', async () => {
      const { accepted } = await second.report<{ accepted: unknown[] }>(outdoor, 'recent')
      return accepted.length > 0 ? accepted : undefined
    })
    second.child.kill('SIGTERM')
    assert.equal((await second.finished).code, 0)
  })
})

/** When the demo began, by when it says that its incident did. */
function startOf(out: readonly string[]): number {
  const since = out.map((line) => / of purchase events since (\S+)$/.exec(line)?.[1]).find((time) => time !== undefined)
  return Date.parse(since ?? '') + 40 * MINUTE
}

/** What the site sent then, by the generator that makes it up. */
function outcomesOfMeta(start: number, from: number, to: number): { executions: number; failure: number } {
  const events = eventsOf({ site: OUTDOOR, incidents: incidentsAround(start), seed: 'tagwarden' }, from, to)
  const runs = [...events].flatMap(({ tags }) => tags.filter(({ name }) => name === 'Meta CAPI'))
  return { executions: runs.length, failure: runs.filter(({ status }) => status === 'failure').length }
}

test('the demo keeps out of a store with real clients, and says in a line that one takes nothing', async (t) => {
  const dataDir = await tempDir(t)
  await withStore(dataDir, async (store) => {
    await migrate(store.write, store.columnTypes)
    await insertSite(store)
  })
  const { code, err } = await runCliHere(t, ['demo', '--data-dir', dataDir, '--port', '0'])
  assert.equal(code, 1)
  assert.match(err.join('\n'), /^tagwarden: .* holds clients that no demo made: give the demo another --data-dir$/)

  await withStore(dataDir, async ({ write }) => {
    for (const table of ['sites', 'clients'] as const) await write.deleteFrom(table).execute()
    await sql`create trigger full before insert on clients begin select raise(abort, 'no room'); end`.execute(write)
  })
  const full = await runCliHere(t, ['demo', '--data-dir', dataDir, '--port', '0'])
  assert.deepEqual([full.code, full.err], [1, [`tagwarden: ${dataDir} cannot be filled: no room`]])
})

test('a port in use is named before the demo writes its history', async (t) => {
  const { port } = new URL(await startAnswering(t, (_request, response) => response.end()))
  const dataDir = join(await tempDir(t), 'demo')
  const { code, err } = await runCliHere(t, ['demo', '--data-dir', dataDir, '--port', port, '--days', '1'])
  assert.equal(code, 1)
  assert.match(err.join('\n'), new RegExp(`^tagwarden: .* PORT=${port} is in use by another program: .*$`))
  assert.equal(existsSync(dataDir), false)
})
