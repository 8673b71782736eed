import { MINUTE, retryAfterMs } from '../../lib/index.ts'
import { SERVICE_TITLES, type Service } from '../payloads.ts'
import type { SendOutcome } from '../transport.ts'
import { type Answer, reasonIn, retryAfterIn } from './answer.ts'

/** What is wrong with the address or with who may use it: every message would be refused. */
const BROKEN_STATUSES = [401, 402, 403, 404, 405, 407, 410, 411, 415, 451]
const PASSING_STATUSES = [408, 425, 429]

/** Answers of one service that mean something else than their status, or more. The first that matches counts. */
interface Rule {
  status: number
  /** Of `reasonIn`, or of the body as it is. */
  reason: RegExp
  kind: SendOutcome['kind']
  says: string
  retryAfterMs?: number
}

const RULES: Readonly<Record<Service, readonly Rule[]>> = {
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling-errors
  slack: [
    {
      status: 400,
      reason:
        /^(invalid_token|no_(service|service_id|team|active_hooks)|user_not_found|channel_(not_found|is_archived)|team_disabled|action_prohibited)$/,
      kind: 'channel_broken',
      says: 'the webhook does not work any more',
    },
  ],
  // https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
  discord: [
    {
      status: 400,
      reason: /^220001$/,
      kind: 'channel_broken',
      says: 'the webhook is one of a forum, which takes threads only',
    },
    // Before the webhook is even looked at, for all that comes from this address.
    {
      status: 403,
      reason: /error code: 10(15|20)|cloudflare/i,
      kind: 'passing',
      says: 'it keeps us out for a while',
      retryAfterMs: 15 * MINUTE,
    },
  ],
  teams: [
    // The connectors of Office answer 200 whatever happened, and say in the body what did.
    { status: 200, reason: /HTTP error 429/, kind: 'passing', says: 'it was asked too often', retryAfterMs: MINUTE },
    { status: 200, reason: /HTTP error (400|413)/, kind: 'message_refused', says: 'it does not take this message' },
    { status: 200, reason: /HTTP error 4\d\d/, kind: 'channel_broken', says: 'the connector does not work any more' },
    { status: 200, reason: /message delivery failed/i, kind: 'passing', says: 'it could not post the message' },
    {
      status: 400,
      reason: /NotEnabled|Disabled|Suspended|SchemaMismatch|Authorization/,
      kind: 'channel_broken',
      says: 'the workflow is turned off or wants something else',
    },
  ],
  google_chat: [
    {
      status: 400,
      reason: /API_KEY_INVALID|API key not valid/,
      kind: 'channel_broken',
      says: 'the webhook does not work any more',
    },
  ],
  generic: [
    // Google's Apps Script has done its work by then; what it sends us on to is only the answer.
    { status: 302, reason: /^script\.googleusercontent\.com$/, kind: 'delivered', says: '' },
  ],
}

/** The least to wait after a 429, where experience is that what the service asks for is too little. */
const LEAST_WAIT_MS: Partial<Record<Service, number>> = { google_chat: MINUTE }

/**
 * What an answer means for the message and its channel. Errors name the service and the reason it gave, never text of an
 * unknown server: it may repeat the address, which is a secret.
 *
 * @param now epoch ms, for a `Retry-After` that names a time
 */
export function outcomeOf(service: Service, answer: Answer, now: number): SendOutcome {
  const reason = service === 'generic' ? null : reasonIn(answer.body)
  const said = `${capital(SERVICE_TITLES[service])} answered ${answer.status}${reason === null ? '' : ` (${reason})`}`
  const rule = RULES[service].find(({ status, reason: pattern }) => {
    return (
      status === answer.status &&
      [reason, locationHost(answer), answer.body].some((text) => text !== null && pattern.test(text))
    )
  })
  if (rule !== undefined) return ruled(rule, said)
  const { status } = answer
  if (status >= 200 && status < 300) return delivered(service, status)
  if (status >= 500 || status < 200 || PASSING_STATUSES.includes(status)) return passing(service, answer, said, now)
  if (status < 400) return redirected(answer, said)
  if (BROKEN_STATUSES.includes(status)) return { kind: 'channel_broken', error: `${said}: check the address` }
  return { kind: 'message_refused', error: `${said}: it does not take this message` }
}

function ruled({ kind, says, retryAfterMs: wait }: Rule, said: string): SendOutcome {
  if (kind === 'delivered') return { kind }
  const error = `${said}: ${says}`
  return kind === 'passing' ? { kind, error, ...(wait === undefined ? {} : { retryAfterMs: wait }) } : { kind, error }
}

const delivered = (service: Service, status: number): SendOutcome =>
  service === 'teams' && status === 202
    ? { kind: 'delivered', note: 'Microsoft Teams took it, but does not say whether its workflow posted it' }
    : { kind: 'delivered' }

function passing(service: Service, { status, headers, body }: Answer, said: string, now: number): SendOutcome {
  const stated = service === 'discord' ? retryAfterIn(body) : null
  const asked = stated ?? retryAfterMs(headers['retry-after'], now)
  const least = status === 429 ? (LEAST_WAIT_MS[service] ?? null) : null
  if (asked === null && least === null) return { kind: 'passing', error: said }
  return { kind: 'passing', error: said, retryAfterMs: Math.max(asked ?? 0, least ?? 0) }
}

/**
 * Redirects are not followed: a browser's way of following one asks the new address for a page instead of sending it the
 * message, which would count as delivered.
 */
function redirected(answer: Answer, said: string): SendOutcome {
  const host = locationHost(answer)
  const error = `${said}: it sends us on${host === null ? '' : ` to ${host}`}, which is not followed; set the address that it leads to`
  // 303 says that what was sent was taken, and where to read more.
  if (answer.status === 303) return { kind: 'delivered', note: said }
  return answer.status === 301 || answer.status === 308 ? { kind: 'channel_broken', error } : { kind: 'passing', error }
}

const locationHost = ({ headers }: Answer): string | null =>
  headers.location === undefined ? null : (URL.parse(headers.location)?.host ?? null)

const capital = (text: string): string => (text === 'webhook' ? 'The webhook' : text)
