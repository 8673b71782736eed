/**
 * Makes the store of a release for the upgrade tests, and records the release's answers about it. Runs in a checkout of that release, into
 * which `scripts/make-upgrade-fixture.ts` copies it.
 *
 *     node testkit/upgrade/fill-store.ts <folder>
 *
 * Leaves `tagwarden.db` and `answers.json` in the folder.
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { folderFor, gapsOf, settle, writeHistory } from '../../src/cli/demo/history.ts'
import { incidentsAround } from '../../src/cli/demo/incidents.ts'
import { writeResultHistory } from '../../src/cli/demo/results.ts'
import { ensureDemoSites } from '../../src/cli/demo/sites.ts'
import { COFFEE, FASHION } from '../../src/cli/demo/world.ts'
import { readConfig } from '../../src/config.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { type Service, startService } from '../../src/main.ts'
import { applyRetention } from '../../src/rollups/index.ts'
import { migrate, openSqliteStore, type Store, sqlitePath } from '../../src/store/index.ts'
import { type ApiClient, apiClient } from '../api.ts'
import { TestClock } from '../clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../deltas.ts'
import { answerTo, questionsTo } from '../questions.ts'
import { until } from '../until.ts'
import { MADE_AT, SETTINGS } from './moment.ts'

/** Long enough for a resolved incident, short enough for a small file. */
const DAYS = 2
/** Counts by quarter hours, as for old data: single minutes would be ten times as many rows of the same kinds. */
const COARSE = { minuteDays: 0, hourDays: 400 }
/** Names that sort differently by bytes and by language. */
const NAMES = ['purchase', 'Purchase', 'Käufe/ß', '_x', '😀']

/** Answers about the program, not about the store. */
const OF_PROGRAM = /\/template\.tpl|^\/api\/probe-types|^\/badge\//
/** Longer answers, such as counts by the minute, would be most of the file and show nothing new. */
const LONGEST_ANSWER = 20_000

const [folder = ''] = process.argv.slice(2)
if (folder === '') {
  console.error('Give the folder to make the store in.')
  process.exit(1)
}
await mkdir(folder, { recursive: true })
await withStore(folder, writeDemo)
const used = await serve(folder)
await useOverHttp(used.api)
await used.service.stop()
await withStore(folder, leaveJournal)
shrink(sqlitePath(folder))

const copy = join(folder, 'asked')
await mkdir(copy)
await copyFile(sqlitePath(folder), sqlitePath(copy))
const asked = await serve(copy)
await until('what was in the journal is in the reports', async () => {
  const row = await asked.service.store.read.selectFrom('journal').select('seq').limit(1).executeTakeFirst()
  return row === undefined ? true : undefined
})
await until('what open incidents cost is counted', async () => {
  const incidents = await asked.api.ask<{ state: string; impact: unknown }[]>('GET', '/api/incidents')
  return incidents.every(({ state, impact }) => state === 'resolved' || impact !== null) ? true : undefined
})
const answers: Record<string, unknown> = {}
for (const question of await questionsTo(asked.api)) {
  if (OF_PROGRAM.test(question)) continue
  const { status, body } = await answerTo(asked.api, question)
  if (status === 200 && JSON.stringify(body).length < LONGEST_ANSWER) answers[question] = body
}
await asked.service.stop()
await rm(copy, { recursive: true })
const target = join(folder, 'answers.json')
await writeFile(target, JSON.stringify(answers))
process.stdout.write(`${Object.keys(answers).length} answers in ${target}\n`)

async function withStore(dataDir: string, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openSqliteStore(dataDir)
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

/** Writes two of the demo's clients: counts, probes with results, alerts, incidents and messages. */
async function writeDemo(store: Store): Promise<void> {
  await migrate(store.admin, store.columnTypes)
  const earliest = MADE_AT - DAYS * DAY
  const sites = await ensureDemoSites(store, { now: () => earliest }, folder, [FASHION, COFFEE])
  const gaps = await gapsOf(store, sites, earliest)
  const incidents = incidentsAround(MADE_AT)
  const history = { folder: await folderFor(store), gaps, incidents, seed: 'upgrade', retention: COARSE, to: MADE_AT }
  await writeHistory(history, () => undefined)
  await settle(store, MADE_AT, () => undefined)
  await applyRetention(store, { minuteDays: 2, hourDays: 400 }, MADE_AT, () => true)
  const { tagServer } = await writeResultHistory({
    ...{ store, config: configOf(folder), clock: new TestClock(MADE_AT), incidents, earliest, start: MADE_AT },
    sites: gaps,
  })
  await tagServer.close()
  // Otherwise probes would ask servers that no longer exist, in each test that opens the store.
  await store.write
    .updateTable('probes')
    .set({ next_run_at: MADE_AT + 3_650 * DAY })
    .execute()
}

function configOf(dataDir: string) {
  return readConfig({ ...SETTINGS, DATA_DIR: dataDir })
}

async function serve(dataDir: string): Promise<{ api: ApiClient; service: Service }> {
  const clock = new TestClock(MADE_AT)
  const service = await startService({ config: configOf(dataDir), clock, log: pino({ level: 'silent' }) })
  return { api: apiClient(service.address), service }
}

/** Leaves traces of people and tags: changes with audit rows, deletions, odd names, refusals, idempotency keys. */
async function useOverHttp(api: ApiClient): Promise<void> {
  const client = await api.newClient({ name: 'Ärger & Söhne', email: 'a@b.example' })
  const site = await api.newSite(client, { timezone: 'America/New_York' })
  const deleted = await api.newSite(client)
  await api.ask('DELETE', `/api/sites/${deleted.id}`)
  await api.ask('PATCH', `/api/clients/${client.id}`, { name: 'Ärger & Töchter' })
  for (const [index, event_name] of NAMES.entries()) {
    const tags = NAMES.map((name, id) => ({ id: String(id), name, status: 'success' as const, execution_time: 7 * id }))
    for (const timestamp_ms of [MADE_AT - index * HOUR, MADE_AT - index * MINUTE, 0]) {
      const payload = eventPayload({ event_name, tags, timestamp_ms, user_data: { has_email: index % 2 === 0 } })
      const { status, text } = await api.ingest(site, payload, { 'idempotency-key': `${index}-${timestamp_ms}` })
      if (status !== 200) throw new Error(text)
    }
  }
  for (const refused of ['no JSON', { container_id: 7 }]) await api.ingest(site, refused)
  const hours = (from: number, to: number) => ({
    starts_at: new Date(MADE_AT + from * HOUR).toISOString(),
    ends_at: new Date(MADE_AT + to * HOUR).toISOString(),
  })
  await api.ask('POST', '/api/silences', { site_id: site.id, comment: 'Moving house', ...hours(0, 4) })
  await api.ask('POST', '/api/maintenance', {
    ...{ client_id: client.id, title: 'New tags', kind: 'once', ...hours(24, 26) },
  })
  await api.ask('POST', `/api/clients/${client.id}/status-link`)
  const probe = { site_id: site.id, probe_type: 'data_freshness', name: 'Anything', is_active: false }
  await api.ask('POST', '/api/probes', probe)
}

/** Leaves unfolded journal rows, as of a killed service. */
async function leaveJournal(store: Store): Promise<void> {
  const { site_no } = await store.read
    .selectFrom('sites')
    .select('site_no')
    .orderBy('site_no')
    .executeTakeFirstOrThrow()
  for (let seq = 1; seq <= 3; seq++) {
    const payload = eventPayload({ timestamp_ms: MADE_AT - seq * MINUTE })
    await writeJournal(store, 'killed', seq, deltaOf(site_no, [payload], MADE_AT))
  }
}

function shrink(path: string): void {
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = delete; vacuum')
  database.close()
}
