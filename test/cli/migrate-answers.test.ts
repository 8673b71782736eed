import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { folderFor, gapsOf, settle, writeHistory } from '../../src/cli/demo/history.ts'
import { incidentsAround } from '../../src/cli/demo/incidents.ts'
import { ensureDemoSites } from '../../src/cli/demo/sites.ts'
import { COFFEE, FASHION } from '../../src/cli/demo/world.ts'
import type { Environment } from '../../src/config.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention } from '../../src/rollups/index.ts'
import { migrate } from '../../src/store/index.ts'
import type { ApiClient } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { placeFor, postgres, sqlite } from '../../testkit/engines.ts'
import { amount, inTurn } from '../../testkit/length.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { answerTo, questionsTo } from '../../testkit/questions.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { withStore } from './databases.ts'

const NOW = Date.parse('2026-11-20T09:40:00Z')
const FROM = NOW - 3 * DAY
const retention = { minuteDays: 2, hourDays: 400 }
const RETENTION = { RETENTION_MINUTE_DAYS: '2' }
/** Sorted differently by bytes and by the rules of a language. */
const NAMES = ['purchase', 'Purchase', 'Käufe/ß', 'zeta', 'Zeta', '_x', '😀', '\uffff']

/** A store as a service that was killed leaves it: history, what came over HTTP, and a journal that is not folded. */
async function usedFolder(t: TestContext): Promise<string> {
  const { DATA_DIR = '' } = await placeFor(sqlite, t)
  await withStore(DATA_DIR, async (store) => {
    await migrate(store.admin, store.columnTypes)
    const sites = await ensureDemoSites(store, { now: () => FROM }, DATA_DIR, [FASHION, COFFEE])
    const gaps = await gapsOf(store, sites, FROM)
    const folder = await folderFor(store)
    const history = { folder, gaps, incidents: incidentsAround(NOW), seed: 'test', retention, to: NOW }
    await writeHistory(history, () => undefined)
    await settle(store, NOW, () => undefined)
    await applyRetention(store, retention, NOW, () => true)
  })
  const api = await startTestService(t, new TestClock(NOW), { DATA_DIR, ...RETENTION })
  await useOverHttp(api)
  await api.service.stop()
  await withStore(DATA_DIR, async (store) => {
    const { site_no } = await store.read
      .selectFrom('sites')
      .select('site_no')
      .orderBy('site_no')
      .executeTakeFirstOrThrow()
    for (let seq = 1; seq <= 3; seq++) {
      const payload = eventPayload({ timestamp_ms: NOW - seq * MINUTE })
      await writeJournal(store, 'killed', seq, deltaOf(site_no, [payload], NOW))
    }
  })
  return DATA_DIR
}

async function useOverHttp(api: ApiClient): Promise<void> {
  const client = await api.newClient({ name: 'Ärger & Söhne', email: 'a@b.example' })
  const site = await api.newSite(client, { timezone: 'America/New_York' })
  const deleted = await api.newSite(client)
  assert.equal((await api.call('DELETE', `/api/sites/${deleted.id}`)).status, 204)
  assert.equal((await api.call('PATCH', `/api/clients/${client.id}`, { name: 'Ärger & Töchter' })).status, 200)
  for (const [index, event_name] of NAMES.entries()) {
    const tags = NAMES.map((name, id) => ({ id: String(id), name, status: 'success' as const, execution_time: 7 * id }))
    for (const timestamp_ms of [NOW - index * HOUR, NOW - index * MINUTE, 0]) {
      const payload = eventPayload({ event_name, tags, timestamp_ms, user_data: { has_email: index % 2 === 0 } })
      const answer = await api.ingest(site, payload, {
        'idempotency-key': `${event_name.length}-${index}-${timestamp_ms}`,
      })
      assert.equal(answer.status, 200, answer.text)
    }
  }
  for (const refused of ['no JSON', { container_id: 7 }]) {
    assert.equal((await api.ingest(site, refused)).status, 400)
  }
}

async function startOn(t: TestContext, environment: Environment): Promise<TestService> {
  const api = await startTestService(t, new TestClock(NOW), { ...environment, ...RETENTION })
  await until('what was in the journal is in the reports', async () => {
    const row = await api.service.store.read.selectFrom('journal').select('seq').limit(1).executeTakeFirst()
    return row === undefined ? true : undefined
  })
  return api
}

test(
  'after the copy every report answers the same from PostgreSQL as from the embedded store',
  inTurn(0, 3),
  async (t) => {
    const DATA_DIR = await usedFolder(t)
    const { DATABASE_URL = '' } = await placeFor(postgres, t)
    const copy = await runCliHere(t, ['migrate', '--from', `sqlite:${DATA_DIR}`], { DATABASE_URL })
    assert.equal(copy.code, 0, copy.err.join('\n'))

    const before = await startOn(t, { DATA_DIR })
    const after = await startOn(t, { DATABASE_URL })
    assert.equal(after.service.store.engine, 'postgres')
    const questions = await questionsTo(before)
    assert.ok(questions.length > 300, `${questions.length}`)
    const asked = questions.filter((_, n) => n % amount(10, 1) === 0)
    let answered = 0
    for (const question of asked) {
      const [expected, actual] = await Promise.all([answerTo(before, question), answerTo(after, question)])
      assert.deepEqual(actual, expected, question)
      if (expected.status === 200) answered++
    }
    assert.ok(answered > asked.length / 2, `${answered} of ${asked.length} questions were good ones`)
  },
)
