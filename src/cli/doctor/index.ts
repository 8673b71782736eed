import { Command } from 'commander'
import { httpUrls } from '../options.ts'

const HELP = `
One line per check: ok, warning (it runs, but read what it says) or failed (it will not run); the exit code is 1 when one
failed. It changes nothing and sends no message: it logs in to the mail server, asks for the front page of the hosts of
CHAT_WEBHOOK_URL and HEARTBEAT_URL, and listens on PORT for a moment. It reads the settings as "tagwarden serve" does. With the service stopped it reads the whole
database file; while the service runs, it asks the service instead. With DATABASE_URL it asks PostgreSQL, and its replica.
With --json it prints one array at the end, of objects with check, level and text.

Examples:
  npm run tagwarden -- doctor
  npm run tagwarden -- doctor --outbound https://www.googletagmanager.com https://sst.example.com
  npm run -s tagwarden -- doctor --json | jq '.[] | select(.level != "ok")'`

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check settings, folder, database, clock, mail, webhooks and outbound access, and say what to do')
    .option('--outbound <url...>', 'hosts to try instead of those that probes need', httpUrls)
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', HELP)
    .action(async ({ outbound, json = false }: { outbound?: readonly string[]; json?: boolean }) => {
      const { examine } = await import('./run.ts')
      const { OUTBOUND } = await import('./network.ts')
      await examine(outbound?.map((url) => ({ url, needs: 'what you use it for' })) ?? OUTBOUND, json)
    })
}
