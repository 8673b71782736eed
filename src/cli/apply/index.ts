import { Command, InvalidArgumentError, Option } from 'commander'
import { withoutEnd } from '../../lib/index.ts'
import { httpUrl } from '../options.ts'

const APPLY_HELP = `
Brings the service to the state that YAML files describe: clients, sites, probes, channels, maintenance, status pages and
people, over its HTTP interface. Things are recognised by their names. Fields and lists that a file does not give stay as
they are, and nothing is deleted without --prune. \${NAME} in a text is taken from the environment.

TAGWARDEN_URL and TAGWARDEN_TOKEN stand for --url and --token: better, because others on this machine can see a command line.
The exit code is 0 when it is done, with --plan when nothing would change; 2 with --plan when something would; 1 for an error.

Examples:
  npm run -s tagwarden -- apply clients.yaml --plan
  npm run -s tagwarden -- apply config/ --url https://tagwarden.example.com
  npm run -s tagwarden -- apply config/ --prune --plan
  npm run -s tagwarden -- apply config/ --plan --json | jq '.changes[].what'`

const EXPORT_HELP = `
Writes what the service has in the form that "apply" reads. Secrets that the service does not show are \${NAME}: set these
variables before you apply it elsewhere. With --out it writes a folder: the file, the logos of status pages, and the schema for
editors.

Examples:
  npm run -s tagwarden -- export > clients.yaml
  npm run -s tagwarden -- export --out config/
  npm run -s tagwarden -- export --schema > tagwarden.schema.json`

interface Target {
  url?: string
  token?: string
}

interface ApplyFlags extends Target {
  plan?: true
  json?: true
  prune?: true
}

const DEFAULT_URL = 'http://127.0.0.1:8080'

const withTarget = (command: Command): Command =>
  command
    .option('--url <url>', `where the service is (default: TAGWARDEN_URL, or ${DEFAULT_URL})`, serviceUrl)
    .option('--token <token>', 'ADMIN_TOKEN, or an API token of an editor or owner (default: TAGWARDEN_TOKEN)')

export function applyCommand(): Command {
  return withTarget(
    new Command('apply')
      .description('bring a running service to the state that YAML files describe')
      .argument('<path...>', 'files, or folders of files that end in .yaml or .yml'),
  )
    .option('--plan', 'show what would change, and change nothing')
    .option('--json', 'with --plan: show it as JSON')
    .option('--prune', 'delete what no file names, in the lists that the files give')
    .addHelpText('after', APPLY_HELP)
    .action(async (paths: string[], options: ApplyFlags, command: Command) => {
      const { plan = false, json = false, prune = false } = options
      if (json && !plan) command.error('error: --json needs --plan')
      const { apply } = await import('./run.ts')
      process.exitCode = await apply({
        paths,
        plan,
        json,
        prune,
        ...targetOf(options, command),
        environment: process.env,
      })
    })
}

export function exportCommand(): Command {
  return withTarget(new Command('export').description('write what a running service has as YAML, for "apply"'))
    .option('--out <folder>', 'write the file, logos and schema there, instead of the file to standard output')
    .addOption(
      new Option('--schema', 'write the JSON Schema of such files, without contacting a service').conflicts('out'),
    )
    .addHelpText('after', EXPORT_HELP)
    .action(async (options: Target & { out?: string; schema?: true }, command: Command) => {
      const { exportAll, printSchema } = await import('./run.ts')
      if (options.schema === true) printSchema()
      else await exportAll({ ...targetOf(options, command), folder: options.out ?? null })
    })
}

function targetOf({ url, token }: Target, command: Command) {
  const { TAGWARDEN_URL = '', TAGWARDEN_TOKEN = '' } = process.env
  return {
    url: url ?? (TAGWARDEN_URL === '' ? DEFAULT_URL : checkedUrl(TAGWARDEN_URL, command)),
    token: token ?? (TAGWARDEN_TOKEN === '' ? null : TAGWARDEN_TOKEN),
  }
}

const serviceUrl = (text: string): string => withoutEnd(httpUrl(text), '/')

function checkedUrl(text: string, command: Command): string {
  try {
    return serviceUrl(text)
  } catch (thrown) {
    if (!(thrown instanceof InvalidArgumentError)) throw thrown
    return command.error('error: TAGWARDEN_URL is not an address like https://tagwarden.example.com')
  }
}
