import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Workshop } from './fault.ts'
import { Program } from './program.ts'
import { Scene } from './scene.ts'
import { Shim } from './shim.ts'

export const databasePath = (dataDir: string): string => join(dataDir, 'tagwarden.db')

/** A service on SQLite in `dataDir`. @param environment more settings */
export async function openSqliteScene(
  { closers, newFolder }: Workshop,
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  const program = await Program.on(newFolder(), { DATA_DIR: dataDir, ...environment })
  closers.add(() => program.kill())
  return Scene.open({
    program,
    isQuiet: async () => countRows(dataDir, 'journal') === 0,
  })
}

/** The same in a folder of its own, whose disk and clock the shim can make misbehave. */
export async function openShimmedScene(workshop: Workshop): Promise<{ scene: Scene; shim: Shim }> {
  const dataDir = workshop.newFolder()
  const shim = new Shim(workshop, dataDir)
  return { scene: await openSqliteScene(workshop, dataDir, shim.environment), shim }
}

/** Rows of a table, whoever else has the database open. */
export function countRows(dataDir: string, table: 'journal' | 'rollup_marks'): number {
  // Read-only, so that closing it moves nothing from the log into the database.
  const database = new DatabaseSync(databasePath(dataDir), { readOnly: true, timeout: 5_000 })
  try {
    return Number(database.prepare(`select count(*) as rows from ${table}`).get()?.rows)
  } finally {
    database.close()
  }
}
