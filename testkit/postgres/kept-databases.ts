import pg from 'pg'
import { createDatabase, type TestDatabase } from './databases.ts'
import { type KeptSessions, keepSessions } from './kept-sessions.ts'

interface State {
  /** A text that changes with the schema, statistics or settings. */
  catalog: string
  /** Tables that have or had rows. */
  filled: string[]
  /** Sequences that were used. */
  used: string[]
  /** The rows that migrations wrote. */
  migrated: string
  /** Number of other sessions. */
  sessions: number
}

/**
 * Catalogs of a database's own objects. A changed row gets a newer transaction number, so the count and the newest number show whether
 * anything was created, changed or removed.
 */
const CATALOGS = [
  ['pg_attribute', 'attrelid'],
  ['pg_attrdef', 'oid'],
  ['pg_constraint', 'oid'],
  ['pg_event_trigger', 'oid'],
  ['pg_extension', 'oid'],
  ['pg_index', 'indexrelid'],
  ['pg_policy', 'oid'],
  ['pg_proc', 'oid'],
  ['pg_rewrite', 'oid'],
  ['pg_sequence', 'seqrelid'],
  ['pg_statistic', 'starelid'],
  ['pg_statistic_ext', 'oid'],
  ['pg_trigger', 'oid'],
  ['pg_type', 'oid'],
] as const
const FIRST_OWN_ID = 16_384

/** Tables into which migrations write. */
const MIGRATED = ['kysely_migration', 'kysely_migration_lock']

const newest = (catalog: string, condition = 'true') =>
  `(select concat(count(*), ' ', max(cast(cast(xmin as text) as bigint))) from ${catalog} where ${condition})`

const STATE = `
  select concat_ws(' ',
    ${CATALOGS.map(([catalog, id]) => newest(catalog, `${id} >= ${FIRST_OWN_ID}`)).join(', ')},
    ${newest('pg_namespace')}, ${newest('pg_default_acl')},
    ${newest('pg_db_role_setting', "setrole in (0, to_regrole('tagwarden')) and setdatabase in (0, d.oid)")},
    -- A table that is emptied changes here as well.
    (select md5(string_agg(concat_ws(' ', oid, relname, relpersistence, relhastriggers, relrowsecurity, reloptions, relacl), ',' order by oid))
      from pg_class where oid >= ${FIRST_OWN_ID}),
    d.datallowconn, d.datconnlimit, d.datacl, d.datdba) as catalog,
    array(select cast(relname as text) from pg_class where relkind = 'r' and relnamespace = to_regnamespace('public')
      and pg_relation_size(oid) > 0 and relname <> all (array['${MIGRATED.join("', '")}'])) as filled,
    array(select cast(seqrelid as text) from pg_sequence where pg_sequence_last_value(seqrelid) is not null) as used,
    concat(${MIGRATED.map((table) => `(select json_agg(t order by cast(t as text)) from ${table} as t)`).join(', ')}) as migrated,
    (select cast(count(*) as int) from pg_stat_activity where datid = d.oid and pid <> pg_backend_pid()) as sessions
  from pg_database as d where datname = current_database()`

/** Only one, because others would use up connections that other test processes need. */
let kept: KeptDatabase | undefined
/** The state of a new database. */
let pristine: State | undefined

/** A migrated database without rows: a new one, or an earlier one of this process, emptied and otherwise unchanged. */
export async function leaseDatabase(): Promise<TestDatabase> {
  const again = kept
  kept = undefined
  return (again ?? (await KeptDatabase.create())).lease()
}

// Drop the kept database, because the shared server may run for another half an hour. After `beforeExit` this process may still continue.
process.on('beforeExit', () => {
  const last = kept
  kept = undefined
  void last?.drop().catch(() => undefined)
})

class KeptDatabase {
  readonly #database: TestDatabase
  readonly #sessions: KeptSessions
  readonly #cleaner: pg.Pool

  static async create(): Promise<KeptDatabase> {
    const made = new KeptDatabase(await createDatabase())
    pristine ??= await made.#state()
    const written = [...pristine.filled, ...pristine.used]
    if (written.length > 0) throw new Error(`migrations write to ${written.join(', ')}: say so in MIGRATED`)
    return made
  }

  constructor(database: TestDatabase) {
    this.#database = database
    this.#sessions = keepSessions(database.url)
    this.#cleaner = new pg.Pool({
      connectionString: database.adminUrl,
      max: 1,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
    })
    this.#cleaner.on('error', () => undefined)
  }

  lease(): TestDatabase {
    const { url, adminUrl } = this.#database
    return { url, adminUrl, drop: () => this.#giveBack() }
  }

  async #giveBack(): Promise<void> {
    const isEmptied = await this.#isEmptied().catch(() => false)
    if (!isEmptied || kept !== undefined) return this.drop()
    kept = this
  }

  async drop(): Promise<void> {
    await Promise.all([this.#sessions.end(), this.#cleaner.end()])
    await this.#database.drop()
  }

  async #isEmptied(): Promise<boolean> {
    const ready = await this.#sessions.settled()
    const { catalog, filled, used, migrated, sessions } = await this.#state()
    if (catalog !== pristine?.catalog || migrated !== pristine.migrated || sessions !== ready) return false
    if (filled.length > 0) await this.#cleaner.query(`truncate ${filled.join(', ')} cascade`)
    for (const sequence of used) {
      const start = '(select seqstart from pg_sequence where seqrelid = $1)'
      await this.#cleaner.query(`select setval(cast(cast($1 as oid) as regclass), ${start}, false)`, [sequence])
    }
    return true
  }

  async #state(): Promise<State> {
    const { rows } = await this.#cleaner.query<State>({ name: 'state', text: STATE })
    const [state] = rows
    if (state === undefined) throw new Error('the database has no name')
    return state
  }
}
