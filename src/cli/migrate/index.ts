import { Command, InvalidArgumentError, Option } from 'commander'

interface Options {
  status?: true
  citus?: true
  from?: string
  to?: string
}

const HELP = `
"tagwarden serve" migrates automatically; this is for those who want the step apart from the start, with the service stopped.
The database is the one in DATABASE_URL, or without it in DATA_DIR (default ./data).

--from copies an embedded store into an empty PostgreSQL database, with the service stopped, and verifies the copy. The
folder stays as it is. Interrupted, it resumes when it is run again. Without --to the target is DATABASE_URL: better, because
others on this machine can see a command line.

Examples:
  npm run tagwarden -- migrate
  DATA_DIR=/var/lib/tagwarden npm run tagwarden -- migrate --status
  DATABASE_URL_FILE=/run/secrets/database npm run tagwarden -- migrate --from sqlite:/var/lib/tagwarden
  npm run tagwarden -- migrate --from sqlite:./data --to postgres://tagwarden@db.example.com/tagwarden
  npm run tagwarden -- migrate --citus`

export function migrateCommand(): Command {
  return new Command('migrate')
    .description("bring the database to this version's schema, or an embedded store into PostgreSQL")
    .addOption(
      new Option(
        '--status',
        'list applied and pending steps, also while the service runs, and change nothing',
      ).conflicts(['citus', 'from']),
    )
    .addOption(new Option('--citus', 'migrate, then distribute the tables over a Citus cluster').conflicts('from'))
    .addOption(
      new Option('--from <sqlite:folder>', 'copy the store in this folder to PostgreSQL').argParser(sqliteFolder),
    )
    .option('--to <postgres://…>', 'where to copy it to (default: DATABASE_URL)')
    .addHelpText('after', HELP)
    .action(run)
}

async function run({ status, citus, from, to }: Options, command: Command): Promise<void> {
  if (from === undefined && to !== undefined) {
    command.error('error: --to needs --from: say what to copy there')
  }
  const { copyEmbedded, distribute, showSteps, takeSteps } = await import('./run.ts')
  if (from !== undefined) await copyEmbedded(from, to)
  else if (status === true) await showSteps()
  else if (citus === true) await distribute()
  else await takeSteps()
}

function sqliteFolder(text: string): string {
  const folder = /^sqlite:(.+)$/.exec(text)?.[1]
  if (folder === undefined) throw new InvalidArgumentError('Give the folder of an embedded store, like sqlite:./data.')
  return folder.replace(/^\/\/(?=\/)/, '')
}
