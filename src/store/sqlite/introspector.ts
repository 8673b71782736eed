import { type DatabaseMetadataOptions, type Kysely, SqliteIntrospector, sql, type TableMetadata } from 'kysely'

/**
 * Kysely's migrator asks for all tables with all their columns, several times a step, to see whether two tables of its own are there. It
 * gets their names: the columns of a hundred tables were most of what a start on a new database cost.
 */
export class QuickSqliteIntrospector extends SqliteIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables(options?: DatabaseMetadataOptions): Promise<TableMetadata[]> {
    if (options?.withInternalKyselyTables !== true) return super.getTables(options)
    const names = sql<{ name: string }>`select name from sqlite_master where type = 'table'`
    const { rows } = await names.execute(this.#db)
    return rows.map(({ name }) => ({ name, isView: false, isForeign: false, columns: [] }))
  }
}
