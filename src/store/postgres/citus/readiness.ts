import { type Kysely, sql } from 'kysely'
import { StartupError } from '../../../lib/index.ts'
import type { Tables } from '../../tables.ts'

/**
 * Since 11.2 the reads of a report's transaction see one snapshot on the nodes, too; since 12.1 tables whose rows are numbered
 * by the database can be copied to every node whatever they were before.
 */
const OLDEST = { major: 12, minor: 1 }
const COORDINATOR_GROUP = 0

/** @throws StartupError saying what to do, when this is not the coordinator of a Citus cluster that can hold tables */
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

/** @param version as PostgreSQL names the extension's: `13.2-1` */
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
  // Without a copy on the coordinator, a process that learns of a change from the audit log might read the old row of a worker.
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
