import { Command } from 'commander'
import { configFromEnvironment } from '../environment.ts'
import { timedCopy } from './copying.ts'
import { embeddedFolder } from './embedded.ts'
import { contentsLines, sizeAndTime } from './report.ts'

const HELP = `
The service may be running: the copy holds everything that was answered before the command began. It is checked, and
complete when it gets its name. A file that exists is never overwritten. Ingest keys are in it: keep it to yourself.
The database is the one in DATA_DIR (default ./data). With DATABASE_URL, use pg_dump.

Examples:
  npm run tagwarden -- backup /backup/tagwarden-$(date +%F).db
  DATA_DIR=/var/lib/tagwarden npm run tagwarden -- backup tagwarden.db`

export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the database into one file, while the service runs')
    .argument('<file>', 'the file to make')
    .addHelpText('after', HELP)
    .action(backup)
}

async function backup(file: string): Promise<void> {
  const dataDir = embeddedFolder(configFromEnvironment())
  const { backUpSqlite } = await import('../../store/index.ts')
  const { result, seconds } = await timedCopy('copying', (copying) =>
    backUpSqlite({ dataDir, target: file, ...copying }),
  )
  console.log(`backed up to ${file}: ${sizeAndTime(result, seconds)}`)
  for (const line of contentsLines(result)) console.log(line)
}
