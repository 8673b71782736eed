import { type Static, Type } from 'typebox'
import { EXPECTS, IsoTime, ListPages, model, NOT_BLANK, nullable, Uuid } from '../http/index.ts'
import { isoTime } from '../lib/index.ts'
import type { ClientRow } from '../store/index.ts'
import { PLANS, planOf } from './plans.ts'

/** For names. A character that breaks a line or changes the text direction could make a table or a message read as another. */
export const ONE_LINE = {
  pattern:
    '^[^\\p{Cc}\\p{L}\\p{N}\\p{P}\\p{S}\\u2028-\\u202e\\u2066-\\u2069]*[\\p{L}\\p{N}\\p{P}\\p{S}]' +
    '[^\\p{Cc}\\u2028-\\u202e\\u2066-\\u2069]*$',
  [EXPECTS]: 'one line of visible text, without control characters or characters that change the direction of text',
}

export const Name = Type.String({ ...ONE_LINE, maxLength: 200, description: 'Leading and trailing spaces are removed' })

export const HttpUrl = Type.String({ format: 'http-url', maxLength: 2_048 })

/** An identifier or name that another service assigned. */
export const ForeignName = Type.String({ ...NOT_BLANK, maxLength: 200 })

/** Text that matches a pattern; `expects` ends the sentence "must be …". */
export const Patterned = (pattern: string, expects: string) => Type.String({ pattern, [EXPECTS]: expects })

/** Query parameter of the lists of clients and sites. */
export const ActiveOnly = Type.Boolean({ default: false, description: 'Only active entries' })

const DIGESTS = ['off', 'daily', 'weekly'] as const
export type Digest = (typeof DIGESTS)[number]

/** How often the client gets a digest by e-mail. */
export const digestOf = ({ digest }: Pick<ClientRow, 'digest'>): Digest =>
  DIGESTS.find((known) => known === digest) ?? 'off'

const CLOCK_TIME = '^([01]\\d|2[0-3]):[0-5]\\d$'

const MAX_COUNT = Number.MAX_SAFE_INTEGER
const MINUTES_PER_YEAR = 525_600

const settable = {
  name: Name,
  email: nullable(
    Type.String({
      format: 'email-list',
      maxLength: 2_560,
      description: 'Receives alert e-mails; up to 10 addresses, separated by commas',
    }),
  ),
  chat_webhook: nullable(HttpUrl),
  is_active: Type.Boolean({ description: 'False while it is paused: ingest refuses the requests of its sites' }),
  plan: Type.Enum(PLANS),
  requests_per_second: nullable(
    Type.Integer({ minimum: 1, maximum: MAX_COUNT, description: 'For plan enterprise only; null: unlimited' }),
  ),
  events_per_month: nullable(
    Type.Integer({ minimum: 1, maximum: MAX_COUNT, description: 'For plan enterprise only; null: unlimited' }),
  ),
  reminder_minutes: nullable(
    Type.Integer({
      minimum: 5,
      maximum: MINUTES_PER_YEAR,
      description: 'Minutes between reminders of an open alert; null: no reminders',
    }),
  ),
  notify_resolved: Type.Boolean({ default: true, description: 'Whether to notify when an alert is resolved' }),
  notify_escalated: Type.Boolean({
    default: true,
    description:
      'Whether to notify when a warning becomes critical; channels that did not get the warning are always notified',
  }),
  quiet_from: nullable(Patterned(CLOCK_TIME, 'a local time like 22:00')),
  quiet_to: nullable(Patterned(CLOCK_TIME, 'a local time like 07:00')),
  digest: Type.Enum([...DIGESTS], { default: 'off', description: 'How often `email` gets a digest' }),
}

export const ClientRecord = model('Client', { id: Uuid, ...settable, created_at: IsoTime })
export type ClientRecord = Static<typeof ClientRecord>

export const UpdateClient = Type.Partial(Type.Object(settable), { additionalProperties: false })
export type UpdateClient = Static<typeof UpdateClient>

export const CreateClient = Type.Object({ ...UpdateClient.properties, name: Name }, { additionalProperties: false })
export type CreateClient = Static<typeof CreateClient>

export const ClientParams = Type.Object({ client_id: Uuid })

export const ClientQuery = Type.Object(
  { active_only: Type.Optional(ActiveOnly), ...ListPages },
  { additionalProperties: false },
)
export type ClientQuery = Static<typeof ClientQuery>

/** A client's record in the API. */
export const clientRecord = (row: ClientRow): ClientRecord => ({
  id: row.id,
  name: row.name,
  email: row.email,
  chat_webhook: row.chat_webhook,
  is_active: row.is_active === 1,
  plan: planOf(row),
  requests_per_second: row.requests_per_second,
  events_per_month: row.events_per_month,
  reminder_minutes: row.reminder_minutes,
  notify_resolved: row.notify_resolved === 1,
  notify_escalated: row.notify_escalated === 1,
  quiet_from: row.quiet_from,
  quiet_to: row.quiet_to,
  digest: digestOf(row),
  created_at: isoTime(row.created_at),
})

export const withoutSecrets = (record: ClientRecord): ClientRecord => ({ ...record, email: null, chat_webhook: null })
