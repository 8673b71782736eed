import { counted, DAY, floorTo, MINUTE, nextMonthStart, number } from '../../lib/index.ts'
import { hasNoKey, keyState, lastEventAt, listKeys, monthUsage, PLAN_LIMITS } from '../../management/index.ts'
import { type Kysely, NO_SITE, type SiteRow, type Tables, totalOf } from '../../store/index.ts'
import { localMoment } from './unjudged.ts'

/** Why a site's requests are refused, so that none of its data are counted. */
export interface Refusals {
  why:
    | 'quota'
    | 'key_revoked'
    | 'rate'
    | 'forbidden'
    | 'invalid_payload'
    | 'payload_too_large'
    | 'overload'
    | 'key_misplaced'
    | 'address'
  /** Epoch ms; accurate to the minute when it is the first refusal since the last event. */
  since: number
  /** Requests refused since then. */
  requests: number
  /** True while nothing changes without action: the quota is used up or the key is revoked. */
  lasts: boolean
  /** E.g. `refused: quota used up since 20 Nov, 14:10 (…)`. */
  message: string
}

/** Other refusals explain a silence for this long after the last of them, and only one that lasts at least `LEAST_SILENCE_MS`. */
const RECENT_MS = 15 * MINUTE
const LEAST_SILENCE_MS = 5 * MINUTE
/** Older refusals say nothing about now; a month, because quotas are monthly. */
const LOOKED_BACK_MS = 31 * DAY

/**
 * Returns why a site has sent nothing since its last event; null while events come, and when no one tried. A wrong key
 * belongs to no site, so its refusals (401) prove nothing: see `readUnknownKeys`.
 *
 * @param db a snapshot in which the counts are complete
 */
export async function readRefusals(db: Kysely<Tables>, site: SiteRow, now: number): Promise<Refusals | null> {
  const last = await lastEventAt(db, site.site_no)
  const said = (why: Refusals['why'], since: number, requests: number, words: string, more = ''): Refusals => ({
    why,
    since,
    requests,
    lasts: why === 'quota' || why === 'key_revoked',
    message: `refused: ${words} since ${localMoment(since, site.timezone)}${more}`,
  })
  if (site.key_revoked_at !== null && hasNoKey(site, now)) {
    const seen = await refusedSince(db, site.site_no, Math.max(site.key_revoked_at, now - DAY), now)
    const requests = seen.reduce((sum, { total }) => sum + total, 0)
    const more = requests > 0 ? ` (${counted(requests, 'request')} in the last 24 hours)` : ''
    return said('key_revoked', site.key_revoked_at, requests, await lastEndOf(db, site, now), more)
  }
  if (last !== null && now - last < MINUTE) return null
  const from = floorTo(Math.max(last ?? 0, now - LOOKED_BACK_MS), MINUTE)
  // Refusals in the minute of the last event may have come before it, so only a later minute shows that they go on.
  const refused = (await refusedSince(db, site.site_no, from, now)).filter(
    ({ newest }) => last === null || newest > last,
  )
  const limited = refused.find(({ reason }) => reason === 'rate_limited')
  const usage = limited === undefined ? null : await monthUsage(db, site.client_id, now)
  if (limited !== undefined && usage?.level === 'exceeded') {
    const more = `${number(usage.events)} of ${number(usage.limit)} events this month, resets ${localMoment(nextMonthStart(now), site.timezone)}`
    return said('quota', limited.oldest, limited.total, 'quota used up', ` (${more})`)
  }
  // Events accepted just now may not be counted yet: a sender that is refused in part is not silent.
  if (last !== null && now - last < LEAST_SILENCE_MS) return null
  const [most] = refused.filter(({ newest }) => newest >= now - RECENT_MS).toSorted((a, b) => b.total - a.total)
  if (most === undefined) return null
  const { why, words } = (await limitOf(db, site.site_no, most)) ??
    WORDS[most.reason] ?? { why: 'forbidden', words: most.reason }
  const count = `${number(most.total)} ${most.total === 1 ? 'request' : 'requests'}`
  return said(why, most.oldest, most.total, words, ` (${count}, none accepted)`)
}

const WORDS: Readonly<Record<string, { why: Refusals['why']; words: string }>> = {
  rate_limited: { why: 'rate', words: "over the client's rate or the rest of its quota" },
  forbidden: { why: 'forbidden', words: 'site or client paused' },
  invalid_payload: { why: 'invalid_payload', words: 'invalid payloads' },
  payload_too_large: { why: 'payload_too_large', words: 'payloads too large' },
  unavailable: { why: 'overload', words: 'this service was overloaded (503)' },
  unauthorized: { why: 'key_misplaced', words: 'the key is not in the key header' },
  method_not_allowed: { why: 'address', words: 'requests other than POST' },
  not_found: { why: 'address', words: 'sent to an address other than /ingest' },
}

/**
 * Returns a hint for a site that is silent or has too few events: requests with an unknown key came meanwhile and still come. They may be its
 * sender's or someone else's. Null when there were none.
 *
 * @param db where the counts are complete
 * @param began when a fall began, during which events still come; not needed of a silence
 */
export async function readUnknownKeys(
  db: Kysely<Tables>,
  site: SiteRow,
  now: number,
  began?: number | null,
): Promise<string | null> {
  const last = await lastEventAt(db, site.site_no)
  const since = Math.min(began ?? now, last ?? site.created_at)
  const from = floorTo(Math.max(since, now - LOOKED_BACK_MS), MINUTE)
  const refused = together(
    (await refusedSince(db, NO_SITE, from, now)).filter(({ reason }) => UNKNOWN_KEY.includes(reason)),
  )
  if (refused === undefined || refused.newest < now - RECENT_MS) return null
  if (last !== null && refused.newest <= since) return null
  const came =
    refused.total === 1
      ? '1 request with an unknown key was'
      : `${number(refused.total)} requests with unknown keys were`
  return `${came} refused since ${localMoment(refused.oldest, site.timezone)}: check the sender's key`
}

/** Says how the site's last valid key ended: `key revoked`, with its name when the site had several. */
async function lastEndOf(db: Kysely<Tables>, site: SiteRow, now: number): Promise<string> {
  const keys = await listKeys(db, site)
  const last = keys.find(({ key }) => key.ingest_key === site.ingest_key)?.key
  const how = last === undefined || keyState(last, now) === 'revoked' ? 'revoked' : 'expired'
  return keys.length > 1 && last !== undefined ? `key “${last.name}” ${how}` : `key ${how}`
}

/** Reasons for refusing requests whose key belongs to no site. */
const UNKNOWN_KEY: readonly string[] = ['unauthorized', 'malformed_key', 'misplaced_key']

/** Adds several reasons up. */
function together(refused: readonly Refused[]): Refused | undefined {
  const [first] = refused
  if (first === undefined) return undefined
  return {
    reason: first.reason,
    total: refused.reduce((sum, { total }) => sum + total, 0),
    oldest: Math.min(...refused.map(({ oldest }) => oldest)),
    newest: Math.max(...refused.map(({ newest }) => newest)),
  }
}

/** Returns the plan's limit, or the key, that caused the newest refusal, if that is stored. */
async function limitOf(
  db: Kysely<Tables>,
  siteNo: number,
  { reason }: Refused,
): Promise<{ why: 'rate' | 'forbidden'; words: string } | undefined> {
  if (reason !== 'rate_limited' && reason !== 'forbidden') return undefined
  const newest = await db
    .selectFrom('rejections')
    .select('path')
    .where('site_no', '=', siteNo)
    .where('reason', '=', reason)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const [, how, name] = KEY_PATH.exec(newest?.path ?? '') ?? []
  if (name !== undefined) return { why: 'forbidden', words: `the sender uses the ${how} key “${name}”` }
  const words = LIMIT_WORDS[newest?.path ?? '']
  return words === undefined ? undefined : { why: 'rate', words }
}

/** The form in which ingest writes it. */
const KEY_PATH = /^key (revoked|expired): (.*)$/s

const LIMIT_WORDS: Readonly<Record<string, string>> = {
  [PLAN_LIMITS.rate]: "over the client's rate",
  [PLAN_LIMITS.quota]: "over the rest of the client's quota",
  'bytes under way': 'over the bytes that a client may have under way',
}

interface Refused {
  reason: string
  total: number
  /** Minutes of the first and the last refusal, epoch ms. */
  oldest: number
  newest: number
}

function refusedSince(db: Kysely<Tables>, siteNo: number, from: number, now: number): Promise<Refused[]> {
  return db
    .selectFrom('rejection_counts')
    .select(({ fn }) => [
      'reason',
      totalOf('total').as('total'),
      fn.min<number>('bucket').as('oldest'),
      fn.max<number>('bucket').as('newest'),
    ])
    .where('site_no', '=', siteNo)
    .where('bucket', '>=', floorTo(from, MINUTE))
    .where('bucket', '<=', now)
    .groupBy('reason')
    .execute()
}
