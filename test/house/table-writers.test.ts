import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'

/** The room that writes each table. Where two write one, neither can change what a row means. */
const WRITERS: Readonly<Record<string, readonly string[]>> = {
  accounts: [
    'api_tokens',
    'identity_roles',
    'sign_ins',
    'user_identities',
    'user_links',
    'user_recovery_codes',
    'user_roles',
    'user_two_steps',
    'users',
  ],
  alerts: [
    'alerts',
    'alert_events',
    'alert_feedback',
    'incidents',
    'incident_events',
    'incident_notes',
    'silences',
    'maintenance',
    'on_call_escalations',
  ],
  analytics: ['tag_vendors'],
  cluster: ['nodes', 'leases', 'listening', 'outages', 'clock_checks'],
  digests: ['digests'],
  ingest: ['canary_arrivals', 'client_demand', 'recent_payloads', 'rejection_counts', 'rejections'],
  journal: ['folds', 'idempotency_keys', 'journal', 'write_checks'],
  management: [
    'annotations',
    'audit_log',
    'clients',
    'create_keys',
    'saved_views',
    'site_key_uses',
    'site_keys',
    'sites',
    'special_days',
    'status_links',
    'status_looks',
  ],
  notifications: [
    'channels',
    'client_channels',
    'deliveries',
    'digest_readers',
    'on_call_overrides',
    'on_call_rotations',
  ],
  probes: ['deploy_markers', 'probe_results', 'probes', 'pushes', 'removed_probes'],
  quotas: ['quota_messages'],
  reconciliation: ['reference_counts'],
  sharing: ['announced_incidents', 'announced_maintenance', 'status_subscribers'],
  rollups: [
    'client_usage',
    'container_versions',
    'container_clients',
    'daily_names',
    'event_rollups',
    'event_tag_rollups',
    'field_rollups',
    'minute_floors',
    'minute_parts',
    'dirty_buckets',
    'signal_rollups',
    'site_containers',
    'site_removals',
    'tag_names',
    'tag_rollups',
    'tag_signal_rollups',
  ],
  uptime: ['site_days'],
}

/** Makes and moves tables, whatever is in them. */
const ANY_TABLE = ['src/store/migrations/', 'src/store/copy/']
/** Deletes rows by their age or with their site, in the order and steps that suit the counts: of every table with a `site_no`. */
const ANY_DELETION = ['src/rollups/removal.ts', 'src/rollups/retention.ts']

const ROOM_OF = new Map(
  Object.entries(WRITERS).flatMap(([room, tables]) => tables.map((table) => [table, room] as const)),
)

const BUILT = /\b(?:insertInto|updateTable|deleteFrom|upsertInto|mergeInto|replaceInto)\(\s*'([a-z_]+)'/g
const RAW = /\b(?:insert into|delete from|update) ([a-z_]+)\b/g
/** A table that a variable names. */
const NAMED_LATER = /\b(?:insertInto|updateTable|deleteFrom|upsertInto|mergeInto|replaceInto)\((?!\s*')/

/** Tables that a source writes, in the query builder's words or in SQL; comments do not count. */
function written(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const found = [...code.matchAll(BUILT), ...code.matchAll(RAW)].map(([, table = '']) => table)
  return [...new Set(found)].filter((table) => ROOM_OF.has(table))
}

async function sources(): Promise<{ path: string; room: string; source: string }[]> {
  const all: { path: string; room: string; source: string }[] = []
  for await (const path of glob('src/*/**/*.ts', { cwd: REPOSITORY })) {
    if (ANY_TABLE.some((folder) => path.startsWith(folder))) continue
    all.push({ path, room: path.split('/')[1] ?? '', source: await readFile(join(REPOSITORY, path), 'utf8') })
  }
  return all
}

test('each table is written by one room', async () => {
  const wrong: string[] = []
  const rooms = new Map<string, string>()
  for (const { path, room, source } of await sources()) {
    for (const table of written(source)) {
      rooms.set(table, room)
      if (ROOM_OF.get(table) !== room) wrong.push(`${path} writes ${table}, which is of ${ROOM_OF.get(table)}`)
    }
  }
  assert.deepEqual(wrong, [])
  // Or the search sees nothing.
  assert.ok(rooms.size > 30, `it found writers of ${rooms.size} tables`)
})

test('a table that a variable names is one of the room', async () => {
  for (const { path, room, source } of await sources()) {
    if (!NAMED_LATER.test(source) || ANY_DELETION.includes(path) || room === 'store') continue
    const named = [...source.matchAll(/'([a-z_]+)'/g)].map(([, text = '']) => text).filter((text) => ROOM_OF.has(text))
    const own = named.filter((table) => ROOM_OF.get(table) === room)
    assert.notDeepEqual(own, [], `${path} names no table of its room`)
  }
})

test('every table has a room that writes it', async () => {
  const schema = await readFile(join(REPOSITORY, 'src/store/schema/sqlite.sql'), 'utf8')
  const tables = [...schema.matchAll(/create table "?([a-z_]+)/gi)].map(([, table = '']) => table)
  const ours = tables.filter((table) => !table.startsWith('kysely_'))
  assert.deepEqual(
    ours.filter((table) => !ROOM_OF.has(table)),
    [],
  )
})

for (const source of [
  "trx.insertInto('probes')",
  "trx\n  .updateTable(\n    'probes',\n  )",
  "upsertInto('probes', {})",
  'sql`update probes set a = 1`',
  'sql`delete from probes where a = 1`',
]) {
  test(`a write is seen in ${JSON.stringify(source)}`, () => assert.deepEqual(written(source), ['probes']))
}

test('no write is seen in a comment or a read', () => {
  assert.deepEqual(written("/** insertInto('probes') */\n// update probes\ndb.selectFrom('probes')"), [])
})
