import type { Config } from '../../config.ts'
import { StartupError } from '../../lib/index.ts'

/**
 * The folder of the embedded database, which alone these commands know.
 *
 * @throws StartupError naming PostgreSQL's own tools when the data is there
 */
export function embeddedFolder({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl === null) return dataDir
  throw new StartupError(
    'DATABASE_URL is set, so the data is in PostgreSQL: back up with pg_dump -Fc or pg_basebackup, restore with pg_restore',
  )
}
