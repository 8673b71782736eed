import { type Kysely, sql } from 'kysely'
import { asError, StartupError } from '../../lib/index.ts'
import type { Tables } from '../tables.ts'
import { PLACEMENTS, type Placement } from './citus-placements.ts'

/** A table's current placement, in the terms of `PLACEMENTS`. */
interface PlacedTable {
  /** The distribution column, or `everywhere` for a reference table. */
  placement: string
  colocation: number
}

interface Group {
  placement: Placement
  tables: string[]
}

/**
 * Distributes the tables over a Citus cluster as `PLACEMENTS` says and returns what it did, one line per table. It skips tables
 * that are already in their place, so that it can be run again after an interruption or after a migration with new tables. Each
 * step is its own transaction; Citus blocks writers of the table it moves.
 *
 * @param db connections to the coordinator, without a statement timeout
 * @throws StartupError when Citus is not ready, or a table was distributed differently by hand
 */
export async function distributeTables(db: Kysely<Tables>): Promise<string[]> {
  await requireCitus(db)
  const placed = await placedTables(db)
  const groups = placedGroups()
  for (const group of groups) requireNoOtherPlacement(group, placed)
  const done: string[] = []
  for (const { placement, tables } of groups) {
    let companion = tables.find((table) => placed.has(table))
    for (const table of tables) {
      if (placed.has(table)) continue
      done.push(await distribute(db, table, placement, companion))
      companion ??= table
    }
  }
  // Only once all are in their place: truncating a table also truncates those that refer to it.
  for (const table of groups.flatMap((group) => group.tables)) {
    if (await dropLocalCopy(db, table)) done.push(`${table}: the old copy on the coordinator is removed`)
  }
  return done.length > 0 ? done : ['nothing to do: every table is in its place']
}

/** The tables that leave the coordinator, in the order to distribute them: referenced tables first. */
function placedGroups(): Group[] {
  const tablesOf = (placement: Placement) =>
    Object.entries(PLACEMENTS).flatMap(([table, where]) => (where === placement ? [table] : []))
  return (['everywhere', 'site_no', 'node_id'] as const).map((placement) => ({
    placement,
    tables: tablesOf(placement),
  }))
}

async function placedTables(db: Kysely<Tables>): Promise<Map<string, PlacedTable>> {
  // Also lists a plain table that a reference table is related to; it is neither hashed ('h') nor copied ('t').
  const { rows } = await sql<{ name: string; placement: string; colocation: number }>`
    select logicalrelid::text as name, colocationid as colocation,
      case when repmodel = 't' then 'everywhere' else column_to_column_name(logicalrelid, partkey) end as placement
    from pg_dist_partition where repmodel = 't' or partmethod = 'h'`.execute(db)
  return new Map(rows.map(({ name, ...table }) => [name, table]))
}

/** Reports and folds rely on the key deciding where a row is, and on one site's rows being together. */
function requireNoOtherPlacement({ placement, tables }: Group, placed: ReadonlyMap<string, PlacedTable>): void {
  let colocation: number | undefined
  for (const table of tables) {
    const found = placed.get(table)
    if (found === undefined) continue
    colocation ??= found.colocation
    if (found.placement === placement && found.colocation === colocation) continue
    throw new StartupError(
      `${table} was distributed otherwise (${found.placement}, colocation group ${found.colocation}): ` +
        `select undistribute_table('${table}'), then run again`,
    )
  }
}

/** @param companion a table of the same placement, to keep rows of the same key on the same node */
async function distribute(
  db: Kysely<Tables>,
  table: string,
  placement: Placement,
  companion: string | undefined,
): Promise<string> {
  try {
    if (placement === 'everywhere') {
      await copyEverywhere(db, table)
      return `${table}: copied to every node`
    }
    const group = companion ?? 'none'
    await sql`select create_distributed_table(${table}, ${placement}, colocate_with => ${group})`.execute(db)
    return `${table}: distributed by ${placement}`
  } catch (thrown) {
    throw new StartupError(`${table} cannot be distributed: ${asError(thrown).message}`)
  }
}

/**
 * Without the setting Citus also takes in the tables that refer to this one, and lets their identity columns count from 1 again
 * (seen with 13.2): the next site would get the number of the first.
 */
function copyEverywhere(db: Kysely<Tables>, table: string): Promise<unknown> {
  return db.transaction().execute(async (trx) => {
    await sql`set local citus.enable_local_reference_table_foreign_keys = off`.execute(trx)
    await sql`select create_reference_table(${table})`.execute(trx)
  })
}

/** Citus copies the rows to where they belong and leaves the old ones, which nothing reads. */
async function dropLocalCopy(db: Kysely<Tables>, table: string): Promise<boolean> {
  const { rows } = await sql<{ bytes: number }>`select pg_relation_size(${table}::regclass) as bytes`.execute(db)
  if ((rows[0]?.bytes ?? 0) === 0) return false
  await sql`select truncate_local_data_after_distributing_table(${table}::regclass)`.execute(db)
  return true
}

/**
 * Since 11.2, reads in a report's transaction see one snapshot on the nodes as well. Since 12.1, tables with identity columns can
 * become reference tables whatever they were before.
 */
const OLDEST = { major: 12, minor: 1 }
const COORDINATOR_GROUP = 0

/** @throws StartupError with the way out, when this is not the coordinator of a Citus cluster that can hold tables */
export async function requireCitus(db: Kysely<Tables>): Promise<void> {
  const extension = await sql<{ installed: string | null }>`
    select installed_version as installed from pg_available_extensions where name = 'citus'`.execute(db)
  const [found] = extension.rows
  if (found === undefined) {
    throw new StartupError(
      'Citus is not installed on this PostgreSQL server: install its package on the coordinator and on every worker, ' +
        'add citus to shared_preload_libraries there, restart them, then run again (docs/citus.md)',
    )
  }
  if (found.installed === null) {
    throw new StartupError(
      'Citus is not switched on in this database: run "create extension citus" in the database of this name on the ' +
        'coordinator and on every worker (with citus in shared_preload_libraries), then run again (docs/citus.md)',
    )
  }
  if (isTooOld(found.installed)) {
    throw new StartupError(`Citus ${found.installed} is too old: ${OLDEST.major}.${OLDEST.minor} or newer is needed`)
  }
  await requireNodes(db)
}

/** @param version the extension's, as PostgreSQL reports it: `13.2-1` */
function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)
}

async function requireNodes(db: Kysely<Tables>): Promise<void> {
  const { rows: here } = await sql<{ groupid: number }>`select groupid from pg_dist_local_group`.execute(db)
  if (here[0]?.groupid !== COORDINATOR_GROUP) {
    throw new StartupError('DATABASE_URL leads to a Citus worker: give the address of the coordinator')
  }
  const { rows: nodes } = await sql<{ groupid: number; shouldhaveshards: boolean }>`
    select groupid, shouldhaveshards from pg_dist_node where isactive and noderole = 'primary'`.execute(db)
  // Without a copy on the coordinator, a process that finds a change in the audit log might read the old row from a worker.
  if (!nodes.some((node) => node.groupid === COORDINATOR_GROUP)) {
    throw new StartupError(
      "the Citus cluster does not know its coordinator: select citus_set_coordinator_host('<address>', <port>) " +
        'on it, with an address that the workers can reach, then run again (docs/citus.md)',
    )
  }
  if (!nodes.some((node) => node.shouldhaveshards)) {
    throw new StartupError(
      "the Citus cluster has no node that holds data: select citus_add_node('<address>', <port>) for each worker, or " +
        "select citus_set_node_property('<address>', <port>, 'shouldhaveshards', true) for a coordinator that works alone, " +
        'then run again (docs/citus.md)',
    )
  }
}
