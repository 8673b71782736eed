import { setTimeout } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { BatchPayload, EventPayload, Payload } from '../journal/index.ts'
import { MINUTE, printable, SECOND, StartupError } from '../lib/index.ts'
import { headerName, httpUrl, wholeNumber } from './options.ts'
import { type IngestAnswer, type IngestTarget, isAccepted, postPayload, whyUnreachable } from './post.ts'
import { withProgress } from './progress.ts'

const MAX_COUNT = 1_000_000

const HELP = `
Prints status, body and time of each answer. The exit code is 1 when a payload is refused or nothing answers; a sentence
then says what to do. When the plan's rate limit is reached, several payloads wait and continue. The sample is counted like
any other event: use a site made for testing.

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

interface SendOptions extends IngestTarget {
  mode: Mode
  eventName: string
  count: number
}

/** A rate limit asks for a wait of seconds. A used-up quota asks for days: print that answer instead of waiting. */
const LONGEST_WAIT_MS = 10 * SECOND
/** Attempts for one payload: other senders may keep using up the same rate. */
const MAX_ATTEMPTS = 10

type OnAnswer = (answer: IngestAnswer) => void

/**
 * Sends the payloads and prints each answer; the exit code is 1 when one was refused.
 *
 * @throws StartupError when there is no answer, or the request cannot be made
 */
async function send(options: SendOptions): Promise<void> {
  requireSendable(options)
  const showsBar = options.count > 1 && process.stderr.isTTY === true
  const answers: IngestAnswer[] = []
  try {
    if (showsBar)
      await withProgress('sending', options.count, (update) => sendAll(options, answers, () => update(answers.length)))
    else await sendAll(options, answers, (answer) => console.log(answerLine(answer)))
  } finally {
    // Also when the target stops answering: what it accepted is counted.
    if (answers.length > 0 && options.count > 1) console.log(summaryOf(answers, options.count))
  }
  for (const explanation of new Set(answers.map((answer) => explainAnswer(answer, options)))) {
    if (explanation === null) continue
    console.error(`tagwarden: ${explanation}`)
    process.exitCode = 1
  }
}

/** Here, not in the parsers of the options: Commander repeats a value that these refuse. @throws StartupError */
function requireSendable({ key, endpoint }: SendOptions): void {
  if (key.trim() === '') throw new StartupError('--key is empty: copy ingest_key from GET /api/sites')
  if (!/^[ -~]+$/.test(key)) {
    throw new StartupError('--key has characters that no key has: copy ingest_key from GET /api/sites')
  }
  const { username, password } = new URL(endpoint)
  if (username !== '' || password !== '') {
    throw new StartupError('--endpoint has a user or a password: the tag sends none, so give it without them')
  }
}

/** @param answers is filled with each answer, so that those before a failure are known */
async function sendAll(options: SendOptions, answers: IngestAnswer[], onAnswer: OnAnswer): Promise<void> {
  while (answers.length < options.count) {
    const answer = await sendInTime(options)
    answers.push(answer)
    onAnswer(answer)
    if (!isAccepted(answer)) break
  }
}

/** Sends one payload. When several are to be sent and the plan's rate is reached, waits as asked and sends it again. */
async function sendInTime(options: SendOptions): Promise<IngestAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await sendOne(options)
    const waitMs = Number(answer.retryAfter) * SECOND
    const isToWait = answer.status === 429 && waitMs > 0 && waitMs <= LONGEST_WAIT_MS
    if (options.count === 1 || !isToWait || attempt === MAX_ATTEMPTS) return answer
    await setTimeout(waitMs)
  }
}

async function sendOne(options: SendOptions): Promise<IngestAnswer> {
  try {
    return await postPayload(options, samplePayload(options.mode, options.eventName, Date.now()))
  } catch (thrown) {
    throw new StartupError(`no answer from ${options.endpoint}: ${whyUnreachable(thrown)}`)
  }
}

const MODES = ['per_event', 'batched'] as const
type Mode = (typeof MODES)[number]

const CONTAINER_ID = 'GTM-SAMPLE1'
/** Events in the sample batch, which covers the last minute. */
const BATCH_EVENTS = 20

/** A payload as the tag sends it at `now`, epoch ms. */
const samplePayload = (mode: Mode, eventName: string, now: number): Payload =>
  mode === 'batched' ? sampleBatch(eventName, now) : sampleEvent(eventName, now)

const sampleEvent = (eventName: string, now: number): EventPayload => ({
  container_id: CONTAINER_ID,
  event_name: eventName,
  timestamp_ms: now,
  tags: [
    { id: '12', name: 'GA4', status: 'success', execution_time: 42 },
    { id: '31', name: 'Google Ads Conversion', status: 'success', execution_time: 96 },
    { id: '47', status: 'success', execution_time: 173 },
  ],
  user_data: {
    has_email: true,
    has_phone: false,
    has_first_name: true,
    has_last_name: true,
    has_city: true,
    has_country: true,
  },
  ecommerce: { has_value: true, has_currency: true, has_transaction_id: true, has_items: true },
})

const sampleBatch = (eventName: string, now: number): BatchPayload => ({
  container_id: CONTAINER_ID,
  batch: true,
  window_start_ms: now - MINUTE,
  window_end_ms: now,
  total_events: BATCH_EVENTS,
  event_counts: { [eventName]: BATCH_EVENTS },
  tag_metrics: {
    GA4: { success: BATCH_EVENTS, failure: 0, timeout: 0, exception: 0, total_exec_ms: 860, count: BATCH_EVENTS },
  },
  user_data_quality: { email: 12, phone: 4, address: 9, total: BATCH_EVENTS },
  ecommerce_quality: { value: 20, currency: 20, transaction_id: 19, items: 18, total: BATCH_EVENTS },
})

/** What a refusal means and what to do about it, in one sentence; null for an accepted payload. */
export function explainAnswer(answer: IngestAnswer, { endpoint, keyHeader }: IngestTarget): string | null {
  if (isAccepted(answer)) return null
  switch (answer.status) {
    case 400:
      return 'the payload is refused: GET /api/monitoring/sites/{site_id}/recent lists which field and why.'
    case 401:
      return (
        `no site has this key, or the service does not read it from ${keyHeader} (INGEST_KEY_HEADERS): ` +
        'copy ingest_key from GET /api/sites; a deleted site needs to be created again, with a new key.'
      )
    case 403:
      return (
        'the site or its client is paused, or the key is revoked or expired: resume it with PATCH and ' +
        '{"is_active": true}; to replace a key that has ended, add another with POST /api/sites/{site_id}/keys.'
      )
    case 413:
      return 'the payload is larger than 1 MB: send fewer events in a batch (batchSize of the tag).'
    case 429:
      return (
        `the client's plan allows no more at the moment: wait ${answer.retryAfter ?? 'some'} s, or choose a larger plan; ` +
        'GET /api/clients/{client_id}/usage shows the usage.'
      )
    case 404:
    case 405:
      return `there is no ingest at ${endpoint}: the path is /ingest or /api/ingest.`
    case 500:
    case 503:
      return 'the service could not store it: its log and GET /ready say why; nothing was counted, send it again.'
    default:
      return `that is not an answer of Tagwarden: does ${endpoint} lead to it, through every proxy?`
  }
}

/** The outcome of several requests in one line. @param planned the number to be sent */
export function summaryOf(answers: readonly IngestAnswer[], planned: number): string {
  const accepted = answers.filter(isAccepted).length
  const refused = Map.groupBy(
    answers.filter((answer) => !isAccepted(answer)),
    (answer) => answer.status,
  )
  const parts = [
    `${answers.length} of ${planned} answered`,
    `${accepted} accepted`,
    ...Array.from(refused, ([status, those]) => `${those.length} refused with ${status}`),
  ]
  const times = answers.map((answer) => answer.ms).sort((a, b) => a - b)
  const [fastest] = times
  const slowest = times.at(-1)
  const median = times[Math.floor(times.length / 2)]
  if (fastest === undefined || median === undefined || slowest === undefined) return parts.join(', ')
  return `${parts.join(', ')}; fastest ${shown(fastest)}, median ${shown(median)}, slowest ${shown(slowest)}`
}

/** One request in one line. */
export const answerLine = ({ status, body, ms }: IngestAnswer): string => `${status} ${excerpt(body)} ${shown(ms)}`

const EXCERPT = 200

const excerpt = (body: string): string => {
  // Any server may answer, also with escapes that would change the terminal.
  const line = printable(body).replaceAll(/\s+/g, ' ')
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT)}…`
}

const shown = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`
