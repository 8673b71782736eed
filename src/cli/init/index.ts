import { existsSync } from 'node:fs'
import { realpath, rename, rm, writeFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { Command } from 'commander'
import { asError, StartupError } from '../../lib/index.ts'
import { asTyped } from '../options.ts'
import { type Answers, envText, withToken } from './answers.ts'
import { askAll, openTerminal, type Terminal, withDefaults } from './ask.ts'

interface Options extends Partial<Answers> {
  file: string
  yes?: true
  force?: true
}

const HELP = `
Asks four questions and writes a commented .env that the service can start with. Questions that an option answers are not
asked; with --yes none are, and the rest is as with an empty answer. An existing file stays unless you agree, or give --force.

Examples:
  npm run tagwarden -- init
  npm run tagwarden -- init --yes --public-url https://tagwarden.example.com
  npm run tagwarden -- init --yes --data postgres://tagwarden:secret@db.internal:5432/tagwarden --force`

export function initCommand(): Command {
  return new Command('init')
    .description('write a .env by asking four questions')
    .option('--public-url <url>', 'https address for people and tags')
    .option('--data <place>', 'folder of the database, or a postgres:// address')
    .option('--admin-token <token>', 'key of the dashboard and the API: your own, random or none')
    .option('--chat-webhook <url>', 'webhook of a chat for all alerts')
    .option('--file <path>', 'what to write', '.env')
    .option('--yes', 'ask nothing')
    .option('--force', 'overwrite the file')
    .addHelpText('after', HELP)
    .action(init)
}

async function init(options: Options): Promise<void> {
  if (options.yes === true) {
    await writeSettings(options, withDefaults(options))
    return
  }
  if (!process.stdin.isTTY) {
    throw new StartupError(
      'there is no terminal to ask questions on: give --yes, and options for values other than the default',
    )
  }
  const terminal = openTerminal(process.stdin, process.stdout)
  try {
    await initAt(terminal, options)
  } finally {
    terminal.close()
  }
}

/** Asks the questions and writes the file. @throws StartupError when the input ends early, or the file must stay */
export async function initAt(terminal: Terminal, options: Options): Promise<void> {
  const mayReplace = async (): Promise<boolean> =>
    /^y(es)?$/i.test(await terminal.ask(`${options.file} already exists. Overwrite it? [no]\n> `))
  // Ask this first: a no makes the other questions pointless.
  const replaces = options.force === true || !existsSync(options.file) || (await mayReplace())
  if (!replaces) throw new StartupError(`${options.file} stays as it is`)
  await writeSettings({ ...options, force: true }, await askAll(terminal, options))
}

async function writeSettings({ file, force }: Options, answers: Answers): Promise<void> {
  const text = envText(withToken(answers))
  await writePrivate(file, text, force === true)
  console.log(notes(file, text, answers).join('\n'))
}

/** Writes a file that only its owner can read, because it may hold secrets. @throws StartupError */
async function writePrivate(file: string, text: string, replaces: boolean): Promise<void> {
  const mode = 0o600
  try {
    if (!replaces) {
      await writeFile(file, text, { mode, flag: 'wx' })
      return
    }
    // Renaming a new file into place lets readers see the old or the new one whole, and gives it the mode of a new file.
    // In the place of a link it would leave the file that the link leads to as it was.
    const place = await realpath(file).catch(() => file)
    const made = `${place}.${process.pid}.new`
    try {
      await writeFile(made, text, { mode, flag: 'wx' })
      await rename(made, place)
    } finally {
      await rm(made, { force: true })
    }
  } catch (thrown) {
    const error = asError(thrown) as NodeJS.ErrnoException
    if (error.code === 'EEXIST') throw new StartupError(`${file} already exists: give --force to overwrite it`)
    throw new StartupError(`${file} cannot be written: ${error.message}`)
  }
}

/** What to do next, and which settings the environment overrides. */
function notes(file: string, text: string, { publicUrl }: Answers): string[] {
  const settings = parseEnv(text)
  const overruled = Object.keys(settings).filter((name) => (process.env[name] ?? settings[name]) !== settings[name])
  return [
    `${file} is written.`,
    ...(settings.ADMIN_TOKEN === undefined ? [] : ['Sign in on the dashboard with the ADMIN_TOKEN in it.']),
    ...(publicUrl.startsWith('http://')
      ? ['The tag sends to https only: put a proxy with a certificate in front.']
      : []),
    ...overruled.map(
      (name) => `${name} is set to another value in the environment, which takes precedence over the file.`,
    ),
    asTyped('Next: npm run tagwarden -- doctor checks the settings, and npm start starts the service.'),
  ]
}
