import { existsSync } from 'node:fs'
import { Command } from 'commander'
import type { MigrationState } from '../store/index.ts'
import { configFromEnvironment } from './environment.ts'

const HELP = `
"tagwarden serve" migrates by itself; this is for those who want the step apart from the start, with the service stopped.
The database is the one in DATA_DIR (default ./data).

Examples:
  tagwarden migrate
  DATA_DIR=/var/lib/tagwarden tagwarden migrate --status`

export function migrateCommand(): Command {
  return new Command('migrate')
    .description("bring the database to this version's schema and say which steps were taken")
    .option('--status', 'list the steps taken and pending, and change nothing')
    .addHelpText('after', HELP)
    .action((options: { status?: boolean }) => run(options.status === true))
}

async function run(onlyStatus: boolean): Promise<void> {
  const { dataDir } = configFromEnvironment()
  const { migrate, migrationState, openSqliteStore, sqlitePath } = await import('../store/index.ts')
  if (onlyStatus && !existsSync(sqlitePath(dataDir))) {
    console.log(`there is no database in DATA_DIR ${dataDir} yet: the first start creates it`)
    return
  }
  const store = await openSqliteStore(dataDir)
  try {
    const lines = onlyStatus
      ? statusLines(await migrationState(store.read))
      : stepLines(await migrate(store.write, store.columnTypes))
    for (const line of lines) console.log(line)
  } finally {
    await store.close()
  }
}

const stepLines = (steps: readonly string[]): string[] =>
  steps.length === 0 ? ['up to date'] : steps.map((step) => `taken    ${step}`)

const statusLines = ({ taken, pending, unknown }: MigrationState): string[] => [
  ...taken.map((step) => `taken    ${step}`),
  ...pending.map((step) => `pending  ${step}`),
  ...unknown.map((step) => `unknown  ${step} (taken by a newer Tagwarden)`),
]
