import { Command, Option } from 'commander'
import { headerName, httpUrl, wholeNumber } from '../options.ts'
import { type SendOptions, send } from './run.ts'
import { MODES } from './sample.ts'

const MAX_COUNT = 1_000_000

const HELP = `
Prints status, body and time of each answer. The exit code is 1 when a payload is refused or nothing answers; a sentence
then says what to do. Where the plan's rate asks to wait, several wait and go on. The sample is counted like any other event: use a site made for trying.

Examples:
  npm run tagwarden -- send --key KEY
  npm run tagwarden -- send --key KEY --mode batched --event-name page_view
  npm run tagwarden -- send --key KEY --count 200 --endpoint https://tagwarden.example.com/ingest`

export function sendCommand(): Command {
  return new Command('send')
    .description('post a sample payload to an ingest endpoint, as the tag would')
    .requiredOption('--key <key>', "the site's ingest key")
    .option('--endpoint <url>', 'where to post', httpUrl, 'http://127.0.0.1:8080/ingest')
    .addOption(new Option('--mode <mode>', 'one event, or counters of many').choices(MODES).default('per_event'))
    .option('--count <n>', 'how many to send, one after the other', wholeNumber(1, MAX_COUNT), 1)
    .option('--event-name <name>', 'event name in the payload', 'purchase')
    .option('--key-header <name>', 'header that carries the key', headerName, 'X-Service-Key')
    .addHelpText('after', HELP)
    .action((options: SendOptions) => send(options))
}
