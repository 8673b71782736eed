import { Command } from 'commander'
import { systemClock } from '../../lib/index.ts'
import { configFromEnvironment, wholeNumber } from '../options.ts'

interface Options {
  dataDir: string
  port?: number
  days: number
  seed: string
  simulate: boolean
}

/** Days needed to compare the present with the week before and to detect its incidents; each day makes the start slower. */
const DAYS = 8

const HELP = `
Two invented clients with four sites: ${DAYS} days of history, then live traffic through the ingest endpoint, with probes, alerts
and an incident under way. A demo that is started again continues where it ended. It always has an embedded database in a
folder of its own (DATA_DIR and DATABASE_URL are not used) and refuses one that holds other clients; delete the folder to
begin again.

Its probes ask a small server of the demo's own on 127.0.0.1 instead of tag servers and Google, and reach this address for it.
Settings for Google accounts, chat, e-mail and heartbeats are not used: invented incidents notify no one.
The clients have a chat of the demo's own instead: the same server has a page, /chat, that shows what they receive.
The other settings are those of "tagwarden serve".

Examples:
  npm run tagwarden -- demo
  npm run tagwarden -- demo --port 9000 --days 60
  npm run tagwarden -- demo --data-dir /tmp/tagwarden-demo --no-simulate`

export function demoCommand(): Command {
  return new Command('demo')
    .description('serve with a lively example data set')
    .option('--data-dir <folder>', 'where the example data lives', './data/demo')
    .option('--port <port>', 'listen port (default: PORT, or 8080)', wholeNumber(0, 65_535))
    .option('--days <n>', 'days of history', wholeNumber(1, 365), DAYS)
    .option('--seed <text>', 'the same text and time give the same history', 'tagwarden')
    .option('--no-simulate', 'serve the history and send nothing')
    .addHelpText('after', HELP)
    .action(demo)
}

/**
 * Settings that the demo ignores, so that its example data never reach PostgreSQL, real people or heartbeat monitors, and no Google
 * account is asked about invented containers.
 */
const UNSET = {
  DATABASE_URL: '',
  DATABASE_URL_FILE: '',
  DATABASE_READ_URL: '',
  DATABASE_READ_URL_FILE: '',
  ROLE: '',
  CHAT_WEBHOOK_URL: '',
  CHAT_WEBHOOK_URL_FILE: '',
  SMTP_URL: '',
  SMTP_URL_FILE: '',
  HEARTBEAT_URL: '',
  HEARTBEAT_URL_FILE: '',
  GOOGLE_CREDENTIALS: '',
  GOOGLE_CREDENTIALS_FILE: '',
}

async function demo({ dataDir, port, days, seed, simulate }: Options): Promise<void> {
  const config = configFromEnvironment({
    ...UNSET,
    DATA_DIR: dataDir,
    ...(port === undefined ? {} : { PORT: String(port) }),
  })
  const { runDemo } = await import('./run.ts')
  await runDemo({ config, clock: systemClock, days, seed, simulate })
}
