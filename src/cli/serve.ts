import { Command } from 'commander'
import { asksForAccounts, type Config, hasRole } from '../config.ts'
import { systemClock } from '../lib/index.ts'
import type { Service } from '../main.ts'
import { VERSION } from '../version.ts'
import { misspelt } from './misspelt.ts'
import { configFromEnvironment, storeName } from './options.ts'
import { stopOnSignals } from './process.ts'

const HELP = `
Settings come from the environment, and from a file .env in the working folder for what is not set there; they are
listed in docs/configuration.md. SIGTERM and Ctrl-C finish the requests in flight and then stop; Ctrl-C twice stops at once.

Examples:
  npm run tagwarden -- serve
  PORT=9000 DATA_DIR=/var/lib/tagwarden npm run tagwarden -- serve
  HOST=0.0.0.0 ADMIN_TOKEN_FILE=/run/secrets/admin npm run tagwarden -- serve`

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service: migrate the database, listen, print the address')
    .addHelpText('after', HELP)
    .action(serve)
}

async function serve(): Promise<void> {
  const config = configFromEnvironment()
  const { startService } = await import('../main.ts')
  const { createLog } = await import('./process.ts')
  const log = await createLog(config)
  for (const text of misspelt(process.env)) log.warn(text)
  const onDeath = (err: Error) => {
    log.fatal(
      { err },
      'the process ends because its database is unreachable: what was acknowledged is safe, start it again',
    )
    process.exit(1)
  }
  const started = Promise.withResolvers<Service>()
  // A supervisor that sees the port open may send a signal before the rest has started: `stop` then waits for the start.
  const onListening = () => stopOnSignals(async () => (await started.promise).stop(), log)
  const service = await startService({ config, clock: systemClock, log, onDeath, onListening })
  started.resolve(service)
  log.info({ version: VERSION, store: storeName(config) }, `Tagwarden is ready on ${service.address}`)
  const { hasAccounts } = await import('../accounts/index.ts')
  for (const note of startNotes(config, service.address, await hasAccounts(service.store))) log.info(note)
  if (process.stdout.isTTY) log.info(`API documentation: ${service.address}/api/docs`)
}

/** Notes for the person who starts the service, one per line: the dashboard's address and what is not set up. */
export function startNotes(config: Config, address: string, hasAccounts: boolean): string[] {
  if (!hasRole(config, 'worker')) return []
  const url = config.publicUrl ?? address
  const notes = [`Dashboard: ${url}/`]
  if (config.smtpUrl === null) notes.push('E-mail is off: SMTP_URL is not set')
  if (config.chatWebhookUrl === null) {
    notes.push('No chat channel for all clients: CHAT_WEBHOOK_URL is not set (each client can have its own)')
  }
  if (config.adminToken === null && !asksForAccounts(config) && !hasAccounts) {
    notes.push(`Management is open: anyone who can reach ${url} can change everything, because ADMIN_TOKEN is not set`)
  }
  return notes
}
