import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ApiClient, apiClient, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { runCli } from '../../testkit/processes/command-line.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'

const SITES = 4
const CONNECTIONS = 16
const EVENTS = ['purchase', 'page_view', 'add_to_cart']
/** In `eventPayload`. */
const TAGS_PER_EVENT = 2

interface Load {
  sent: number
  acknowledged: number
}

/** Sends from several connections until stopped; every answer has to be 200. */
function startLoad(api: ApiClient, sites: readonly SiteKey[]) {
  const loads: Load[] = sites.map(() => ({ sent: 0, acknowledged: 0 }))
  let isOver = false
  const connection = async (_: unknown, n: number) => {
    for (let turn = n; !isOver; turn++) {
      const site = sites[turn % sites.length]
      const load = loads[turn % sites.length]
      if (site === undefined || load === undefined) return
      load.sent++
      const event_name = EVENTS[turn % EVENTS.length] ?? ''
      // Every eighth has a key that is claimed in the same transaction, which goes another way to the disk.
      const headers: Record<string, string> = turn % 8 === 0 ? { 'idempotency-key': `${n}-${turn}` } : {}
      const { status, text } = await api.ingest(site, eventPayload({ timestamp_ms: Date.now(), event_name }), headers)
      assert.equal(status, 200, text)
      load.acknowledged++
    }
  }
  const done = Promise.all(Array.from({ length: CONNECTIONS }, connection))
  const now = (): Load[] => loads.map((load) => ({ ...load }))
  const stop = async () => {
    isOver = true
    await done
  }
  return { now, stop, done }
}

interface Report {
  total_events: number
  events: { total: number }[]
  executions: number
}

/** What every report says of a site's events; they have to agree. */
async function countsOf(api: ApiClient, site: SiteKey): Promise<Report> {
  const report = async <T>(path: string) => {
    const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/${path}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<T>()
  }
  const overview = await report<{
    total_events: number
    events: { total: number }[]
    tags: { executions: number }[]
  }>('overview?hours=2')
  const executions = overview.tags.reduce((sum, tag) => sum + tag.executions, 0)
  const series = await report<{ series: { points: { value: number | null }[] }[] }>('timeseries?metric=events&hours=2')
  const points = series.series.flatMap((line) => line.points)
  assert.equal(
    points.reduce((sum, { value }) => sum + (value ?? 0), 0),
    overview.total_events,
    'overview and timeseries',
  )
  return { total_events: overview.total_events, events: overview.events, executions }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0)

// `test/cli/backup` makes one under load on every change.
test(
  'a backup at full load restores to exact counts: all that was answered before it, nothing that was not sent',
  AT_NIGHT,
  async (t) => {
    const dataDir = await tempDir(t)
    const server = await startServerProcess(t, dataDir)
    const api = apiClient(server.url)
    const client = await api.newClient()
    const sites: SiteKey[] = []
    for (let n = 0; n < SITES; n++) sites.push(await api.newSite(client, { name: `shop ${n}` }))
    const load = startLoad(api, sites)
    await until('full load', () => (sum(load.now().map(({ acknowledged }) => acknowledged)) > 1_000 ? true : undefined))

    const file = join(await tempDir(t), 'under-load.db')
    const before = load.now()
    const backup = await runCli(t, ['backup', file], { DATA_DIR: dataDir })
    const after = load.now()
    assert.equal(backup.code, 0, backup.err.join('\n'))
    assert.ok(
      after.every(({ acknowledged }, n) => acknowledged > (before[n]?.acknowledged ?? 0)),
      'every site went on being served meanwhile',
    )
    assert.equal((await stat(file)).mode & 0o077, 0, 'ingest keys are in it')
    await load.stop()

    const elsewhere = join(await tempDir(t), 'elsewhere')
    const restore = await runCli(t, ['restore', file], { DATA_DIR: elsewhere })
    assert.equal(restore.code, 0, restore.err.join('\n'))
    const restored = await startServerProcess(t, elsewhere)
    const there = apiClient(restored.url)
    let total = 0
    for (const [n, site] of sites.entries()) {
      const { total_events: events, events: byName, executions } = await countsOf(there, site)
      const [least, most] = [before[n]?.acknowledged ?? 0, after[n]?.sent ?? 0]
      assert.ok(events >= least && events <= most, `site ${n}: ${events} of ${least} to ${most}`)
      assert.equal(sum(byName.map((row) => row.total)), events, `site ${n}: by name`)
      assert.equal(executions, TAGS_PER_EVENT * events, `site ${n}: by tag`)
      total += events
    }
    // The command reported what is in the file; what was committed in the last second comes with the first start.
    const said = Number(/(\d[\d,]*) events?$/.exec(backup.out[1] ?? '')?.[1]?.replaceAll(',', ''))
    assert.ok(said <= total && (said === total) === (backup.out[2] === undefined), backup.out.join('\n'))
    const usage = await there.call('GET', `/api/clients/${client.id}/usage`)
    assert.match(usage.text, new RegExp(`:${total}\\b`), 'the quota of the month counts the same')

    // What was restored is a whole instance: keys work, and counts go on from there.
    const [first] = sites
    assert.ok(first !== undefined)
    const { total_events: had } = await countsOf(there, first)
    assert.equal((await there.ingest(first, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
    await until('one more is in the reports', async () => {
      const answer = await there.call('GET', `/api/monitoring/sites/${first.id}/overview?hours=2`)
      return answer.json<{ total_events: number }>().total_events === had + 1 ? true : undefined
    })
    assert.equal(await restored.end('SIGTERM'), 0)
    assert.equal(await server.end('SIGTERM'), 0)
  },
)
