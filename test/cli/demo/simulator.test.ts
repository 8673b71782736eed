import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { Simulator } from '../../../src/cli/demo/simulator.ts'
import { type DemoSite, ensureDemoSites } from '../../../src/cli/demo/sites.ts'
import { COFFEE, OUTDOOR } from '../../../src/cli/demo/world.ts'
import { HOUR, systemClock } from '../../../src/lib/index.ts'
import { startTestService, type TestService } from '../../../testkit/service.ts'
import { until } from '../../../testkit/until.ts'

interface Recent {
  accepted: { batch?: true }[]
  rejections: unknown[]
}

/** Enough for several payloads at any time of day: at night an hour of the coffee roaster fills no five batches. */
const pastOf = ({ profile }: DemoSite): number => (profile.batchSize === null ? HOUR : 12 * HOUR)

function simulate(
  t: TestContext,
  sites: readonly DemoSite[],
  api: TestService,
): { simulator: Simulator; log: string[] } {
  const log: string[] = []
  const simulator = new Simulator({
    sites,
    incidents: [],
    seed: 'test',
    fromOf: new Map(sites.map((site) => [site.row.site_no, Date.now() - pastOf(site)])),
    endpoint: `${api.url}/ingest`,
    keyHeader: 'x-service-key',
    clock: systemClock,
    log: pino({ level: 'warn' }, { write: (line) => log.push(line) }),
  })
  t.after(() => simulator.stop())
  return { simulator, log }
}

test('the simulator catches up with what is past, in both modes, and nothing of it is refused', async (t) => {
  const api = await startTestService(t, systemClock)
  const sites = await ensureDemoSites(api.service.store, systemClock, 'the folder', [OUTDOOR, COFFEE])
  const { simulator, log } = simulate(t, sites, api)
  const reports = await Promise.all(
    sites.map(({ row }) =>
      until(`${row.name} has sent`, async () => {
        const answer = await api.call('GET', `/api/monitoring/sites/${row.id}/recent`)
        const recent = answer.json<Recent>()
        return recent.accepted.length > 5 ? recent : undefined
      }),
    ),
  )
  await simulator.stop()
  assert.deepEqual(
    reports.map(({ accepted }) => accepted.every(({ batch }) => batch === true)),
    [false, true],
  )
  assert.deepEqual(
    reports.map(({ rejections }) => rejections),
    [[], []],
  )
  assert.deepEqual(log, [])
})

test('the simulator says once that its site is gone, and stops all the same', async (t) => {
  const api = await startTestService(t, systemClock)
  const sites = await ensureDemoSites(api.service.store, systemClock, 'the folder', [OUTDOOR])
  await api.call('DELETE', `/api/sites/${sites[0]?.row.id}`)
  const { simulator, log } = simulate(t, sites, api)
  await until('several are refused', () => (api.service.ingest.status().answers.unauthorized > 5 ? true : undefined))
  await simulator.stop()
  assert.equal(log.length, 1)
  assert.match(log[0] ?? '', /answered 401/)
})
