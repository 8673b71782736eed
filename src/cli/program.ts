import { Command } from 'commander'
import { StartupError } from '../lib/index.ts'
import { VERSION } from '../version.ts'
import { applyCommand, exportCommand } from './apply/index.ts'
import { backtestCommand } from './backtest/index.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { demoCommand } from './demo/index.ts'
import { doctorCommand } from './doctor/index.ts'
import { initCommand } from './init/index.ts'
import { migrateCommand } from './migrate/index.ts'
import { asTyped } from './options.ts'
import { sendCommand } from './send.ts'
import { serveCommand } from './serve.ts'

/** The whole command line. */
export function commandLine(): Command {
  const program = new Command('tagwarden')
    .description('Watches server-side tag manager containers and says within minutes when a tag breaks.')
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => void process.stdout.write(asTyped(text)),
      outputError: (text, write) => {
        write(`${withoutUser(text.replace(/^error: /, 'tagwarden: ')).trimEnd()} (see --help)\n`)
      },
    })
  const commands: readonly Command[] = [
    serveCommand(),
    demoCommand(),
    initCommand(),
    sendCommand(),
    migrateCommand(),
    backtestCommand(),
    backupCommand(),
    restoreCommand(),
    doctorCommand(),
    applyCommand(),
    exportCommand(),
  ]
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program))
  return program
}

/** Hides what may be a password in an address: logs of builds keep what is refused. */
function withoutUser(text: string): string {
  const [start, end] = [text.indexOf('://'), text.lastIndexOf('@')]
  return start >= 0 && start < end ? `${text.slice(0, start)}://…${text.slice(end)}` : text
}

/** Runs the command in `args`; a StartupError becomes one line on standard error and exit code 1. */
export async function run(program: Command, args: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof StartupError)) throw thrown
    // It may repeat what a server answered, also with escapes that would change the terminal.
    console.error(`tagwarden: ${thrown.message.replaceAll(/[^\P{Cc}\n]/gu, ' ')}`)
    process.exitCode = 1
  }
}
