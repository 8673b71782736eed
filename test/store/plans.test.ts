import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CompiledQuery, sql } from 'kysely'
import { changesBefore } from '../../src/alerts/alert-message.ts'
import { forgetGivenUp, forgetUntaken, forgetVendorsGivenUp, resumeHandovers } from '../../src/alerts/given-up.ts'
import { holdMuted } from '../../src/alerts/hold-muted.ts'
import { factsOfSites, lockCases } from '../../src/alerts/incidents/case.ts'
import { escalateUnacknowledged } from '../../src/alerts/incidents/escalate.ts'
import { incidentsSince } from '../../src/alerts/incidents/of-period.ts'
import { openIncidents } from '../../src/alerts/incidents/reach.ts'
import { listIncidents } from '../../src/alerts/incidents/read-incidents.ts'
import { readVendors } from '../../src/alerts/incidents/vendor-reads.ts'
import { loadMutes } from '../../src/alerts/mutes.ts'
import { listAlerts, unresolvedAlerts } from '../../src/alerts/read-alerts.ts'
import { runUpkeep } from '../../src/alerts/upkeep.ts'
import { criticalAlerts } from '../../src/analytics/site-facts.ts'
import { search } from '../../src/dashboard/search.ts'
import { OPEN } from '../../src/http/access/access.ts'
import { Freshness } from '../../src/journal/freshness.ts'
import { foldOrphans } from '../../src/journal/index.ts'
import { newId } from '../../src/lib/index.ts'
import { listDeliveries } from '../../src/notifications/api/deliveries.ts'
import { isVendorKnown } from '../../src/notifications/notified.ts'
import type { Store, Tables, Transaction } from '../../src/store/index.ts'
import { knownRecipients } from '../../src/store/migrations/0065-known-recipients.ts'
import { NOW, TestClock } from '../../testkit/clock.ts'
import { openEmptyStore, postgres, sqlite } from '../../testkit/engines.ts'

/** Tables in which years are kept. */
const KEPT = ['alerts', 'incidents', 'deliveries', 'silences', 'deploy_markers']

/** Indexes by which a row is found, or those of one alert or incident. */
const ONE = /(alerts|incidents|deliveries)_1$|_by_incident$|_by_alert$|_by_parent$/

// SQLite is given no statistics: it plans for an empty store as for one of 2 million rows.
test('what lasts, waits or failed is read without all that is kept (SQLite)', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const seen: CompiledQuery[] = []
  const reads = recording(store, (query) => seen.push(query))
  const channels = { globalWebhook: null, isEmailOn: false, warningsAfterMs: 0 }
  const goOn = () => true
  await runUpkeep(reads, channels, { now: () => NOW }, goOn)
  await holdMuted(reads, NOW)
  await escalateUnacknowledged(reads, channels, { now: () => NOW }, goOn)
  await forgetGivenUp(reads, NOW)
  await forgetVendorsGivenUp(reads, NOW)
  await isVendorKnown(reads.read, newId())
  await forgetUntaken(reads, channels, NOW)
  await resumeHandovers(reads, NOW)
  await readVendors(reads.read, NOW)
  await loadMutes(reads.read, NOW)
  await changesBefore(reads.read, [{ id: newId(), site_id: newId(), started_at: NOW, opened_at: NOW }])
  const inTransaction = reads.read as Transaction<Tables>
  await factsOfSites(inTransaction, [{ site_id: newId(), started_at: NOW, probe_type: 'data_volume' }], NOW)
  await lockCases(inTransaction, store, { incidentIds: [], siteIds: [newId(), newId()], now: NOW })
  await openIncidents(reads.read, null)
  await incidentsSince(reads.read, null, NOW)
  await incidentsSince(reads.read, [newId()], NOW)
  await unresolvedAlerts(reads.read)
  await criticalAlerts(reads.read, [newId(), newId()])
  await search(reads, null, { q: 'meta' }, NOW)
  for (const list of [listAlerts, listIncidents]) {
    await list(reads, null, { resolved: false, severity: 'critical' })
    await list(reads, null, { state: 'open', severity: 'warning' })
    await list(reads, [newId()], { resolved: false, client_id: newId() })
  }
  for (const state of ['pending', 'failed'] as const) {
    await listDeliveries(reads, { state, client_id: newId() }, OPEN)
    await listDeliveries(reads, { state }, OPEN)
  }
  const partial = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'index' and sql like '% where %'`.execute(store.read)
  const small = new Set(partial.rows.map(({ name }) => name))
  let planned = 0
  for (const query of seen) {
    for (const step of await planOf(store, query)) {
      const [, how, table = '', index = ''] = /^(SCAN|SEARCH) (\w+)(?:.* INDEX (\w+))?/.exec(step) ?? []
      if (!KEPT.includes(table)) continue
      planned++
      const isLookUp = how === 'SEARCH' && (ONE.test(index) || /id>\?/.test(step) || /_at>\?/.test(step))
      assert.ok(isLookUp || small.has(index), `${step}: ${query.sql}`)
    }
  }
  assert.ok(planned > 20, `${planned} reads of them`)
})

test("the upgrade looks for a message's incident among those of vendors, not among all (SQLite)", async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const update = knownRecipients.statements(store.columnTypes).find((text) => text.startsWith('update')) ?? ''
  const ofIncidents = (await planOf(store, sql.raw(update).compile(store.read))).filter((step) =>
    / incidents /.test(step),
  )
  assert.deepEqual(ofIncidents, ['SEARCH incidents USING INDEX incidents_by_client (client_id=?)'])
})

// With 320,000 deleted rows that a backup held back, the index took 9 s, and all pages in a row 0.4 s.
test('the journal is not read by its index where deleted rows wait to be cleared away (PostgreSQL)', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const write = (from: number, to: number) =>
    sql`insert into journal select node, seq, ${2 * NOW}, repeat(md5(seq::text), 30)
      from unnest(array['a', 'b']) as node, generate_series(${from}::bigint, ${to}::bigint) as seq`.execute(store.write)
  await write(1, 2000)
  await store.write.deleteFrom('journal').execute()
  await write(2001, 2020)
  await sql`analyze journal`.execute(store.write)
  const seen: CompiledQuery[] = []
  const reads = recording(store, (query) => query.sql.includes('from "journal"') && seen.push(query))
  await foldOrphans(reads, ['a', 'b'])
  const freshness = new Freshness({ store: reads, clock: new TestClock(NOW), folder: null, nodeId: 'a' })
  await freshness.ofAll()
  await freshness.ofSite(async () => 7)
  for (const query of seen) {
    const plan = (await planOf(store, query)).join('\n')
    assert.match(plan, /Seq Scan on journal/)
    assert.doesNotMatch(plan, /journal_pkey/)
  }
  assert.equal(seen.length, 3)
})

/** The same store, which notes what is read. */
function recording(store: Store, note: (query: CompiledQuery) => void): Store {
  const noting = (db: Store['read']): Store['read'] =>
    db.withPlugin({
      transformQuery({ node, queryId }) {
        note(db.getExecutor().compileQuery(node, queryId))
        return node
      },
      transformResult: async ({ result }) => result,
    })
  return { ...store, read: noting(store.read), interactive: noting(store.interactive) }
}

async function planOf({ engine, read }: Store, { sql: text, parameters }: CompiledQuery): Promise<string[]> {
  const { rows } = await read.executeQuery<{ detail: string } | { 'QUERY PLAN': string }>({
    ...{ sql: `explain ${engine === 'sqlite' ? 'query plan ' : ''}${text}`, parameters },
    ...{ query: { kind: 'RawNode' as const, sqlFragments: [], parameters: [] }, queryId: { queryId: newId() } },
  })
  return rows.map((row) => ('detail' in row ? row.detail : row['QUERY PLAN']))
}
