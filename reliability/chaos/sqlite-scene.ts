import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Workshop } from './fault.ts'
import { Program } from './program.ts'
import { Scene } from './scene.ts'

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
