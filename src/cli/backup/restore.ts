import { Command } from 'commander'
import { systemClock } from '../../lib/index.ts'
import { configFromEnvironment } from '../environment.ts'
import { timedCopy } from './copying.ts'
import { embeddedFolder } from './embedded.ts'
import { contentsLines, sizeAndTime } from './report.ts'

const HELP = `
The service must be stopped. The file is copied to DATA_DIR (default ./data) and checked before it becomes the database;
the database that was there is kept beside it under another name. With DATABASE_URL, use pg_restore.

Examples:
  npm run tagwarden -- restore /backup/tagwarden-2026-11-20.db
  DATA_DIR=/var/lib/tagwarden npm run tagwarden -- restore tagwarden.db`

export function restoreCommand(): Command {
  return new Command('restore')
    .description('put a backup in the place of the database, with the service stopped')
    .argument('<file>', 'a file that "tagwarden backup" wrote')
    .addHelpText('after', HELP)
    .action(restore)
}

async function restore(file: string): Promise<void> {
  const dataDir = embeddedFolder(configFromEnvironment())
  const { restoreSqlite } = await import('../../store/index.ts')
  const { result, seconds } = await timedCopy('copying', (copying) =>
    restoreSqlite({ dataDir, backup: file, now: systemClock.now(), ...copying }),
  )
  console.log(`restored ${file} to DATA_DIR ${dataDir}: ${sizeAndTime(result, seconds)}`)
  for (const line of contentsLines(result)) console.log(line)
  if (result.pending.length > 0) console.log(`the next start migrates it: ${result.pending.join(', ')}`)
  if (result.keptAs !== undefined) console.log(`the database that was there is now ${result.keptAs}`)
}
