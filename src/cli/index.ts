import { type Command, program } from 'commander'
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

// What is made here (database, backups, cached code) is for its owner: ingest keys and addresses are in it.
process.umask(process.umask() | 0o077)

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

program
  .name('tagwarden')
  .description('Watches server-side tag manager containers and says within minutes when a tag breaks.')
  .version(VERSION)
  .configureOutput({
    writeOut: (text) => void process.stdout.write(asTyped(text)),
    outputError: (text, write) => write(`${text.replace(/^error: /, 'tagwarden: ').trimEnd()} (see --help)\n`),
  })
for (const command of commands) program.addCommand(command.copyInheritedSettings(program))

try {
  await program.parseAsync()
} catch (thrown) {
  if (!(thrown instanceof StartupError)) throw thrown
  console.error(`tagwarden: ${thrown.message}`)
  process.exitCode = 1
}
