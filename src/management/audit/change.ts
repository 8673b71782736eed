import { maskedQuery } from '../../lib/index.ts'
import { changedFields } from '../changed-fields.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface Change {
  before: Fields | null
  after: Fields | null
}

/**
 * What the audit log keeps of a change: of an update the fields that differ, of a creation or deletion those that hold
 * something; secrets masked.
 */
export function auditedChange(before: Fields | null, after: Fields | null): Change {
  return {
    before: before && maskSecrets(after === null ? held(before) : changedFields(after, before)),
    after: after && maskSecrets(before === null ? held(after) : changedFields(before, after)),
  }
}

/** A change as a viewer may see it. */
export const withoutPersonalFields = ({ before, after }: Change): Change => ({
  before: before && blank(before),
  after: after && blank(after),
})

const held = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

/** Anyone who knows one of these can use it. */
const SECRETS = ['ingest_key', 'token']

function maskSecrets(fields: Fields): Fields {
  const masked: Record<string, unknown> = { ...fields }
  for (const name of SECRETS) if (typeof masked[name] === 'string') masked[name] = '…'
  if (typeof masked.chat_webhook === 'string') masked.chat_webhook = maskedUrl(masked.chat_webhook)
  return masked
}

/** Chat services put the secret into the path; which service it was may be known. */
export function maskedUrl(text: string): string {
  const url = URL.parse(text)
  return url === null ? '…' : `${url.protocol}//${url.host}/…`
}

const HIDDEN_FROM_VIEWERS = ['ingest_key', 'chat_webhook', 'email']
/** Addresses whose queries may hold keys. */
const CUT_FOR_VIEWERS = ['url', 'tag_server_url']

const blank = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (HIDDEN_FROM_VIEWERS.includes(name)) return [name, null]
      return [name, CUT_FOR_VIEWERS.includes(name) && typeof value === 'string' ? maskedQuery(value) : value]
    }),
  )
