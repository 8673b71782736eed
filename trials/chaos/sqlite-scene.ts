import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServerProcess } from '../../testkit/processes/server-process.ts'
import { type CountedSite, countsBySite, countsOf, LANES_WAITING } from './crowd.ts'
import type { Workshop } from './fault.ts'
import { Scene, type SceneOptions } from './scene.ts'
import { Shim } from './shim.ts'

export const databasePath = (dataDir: string): string => join(dataDir, 'tagwarden.db')

interface SqliteSceneOptions {
  /** More settings. */
  environment?: Readonly<Record<string, string>>
  others?: SceneOptions['others']
  /** Sites of one more client, see `Crowd`. */
  crowd?: number
}

/** A service on SQLite in `dataDir`. */
export async function openSqliteScene(
  { closers, newFolder }: Workshop,
  dataDir: string,
  { environment = {}, others, crowd }: SqliteSceneOptions = {},
): Promise<Scene> {
  const program = await ServerProcess.on(newFolder(), { DATA_DIR: dataDir, ...environment })
  closers.add(() => program.kill())
  return Scene.open({
    program,
    others,
    ...(crowd === undefined
      ? {}
      : {
          crowd: {
            size: crowd,
            countsBySite: async () => countsOf(rowsOf<CountedSite>(dataDir, countsBySite('SQLite'))),
          },
        }),
    isSettled: async () => countRows(dataDir, 'journal') === 0,
    usage: async () => askNumber(dataDir, 'select coalesce(sum(events), 0) as value from client_usage'),
  })
}

/** The same in a folder of its own, whose disk and clock the shim can make misbehave. */
export async function openShimmedScene(workshop: Workshop): Promise<{ scene: Scene; shim: Shim }> {
  const dataDir = workshop.newFolder()
  const shim = new Shim(workshop, dataDir)
  return { scene: await openSqliteScene(workshop, dataDir, { environment: shim.environment }), shim }
}

/** Rows of a table, even while another process has the database open. */
export const countRows = (dataDir: string, table: 'journal' | 'dirty_buckets'): number =>
  askNumber(dataDir, `select count(*) as value from ${table}`)

/** Of how many lanes rows wait in the journal. */
export const lanesWaiting = (dataDir: string): number => askNumber(dataDir, LANES_WAITING)

const askNumber = (dataDir: string, sql: string): number => Number(rowsOf<{ value: unknown }>(dataDir, sql)[0]?.value)

function rowsOf<Row>(dataDir: string, sql: string): Row[] {
  // Read-only, so that closing it moves nothing from the log into the database.
  const database = new DatabaseSync(databasePath(dataDir), { readOnly: true, timeout: 5_000 })
  try {
    return database.prepare(sql).all() as Row[]
  } finally {
    database.close()
  }
}
