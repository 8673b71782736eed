import { readSnapshot, type Snapshot } from '../../analytics/index.ts'
import { lastListenedAt } from '../../cluster/index.ts'
import {
  type Finding,
  isBad,
  type Status,
  type Subject,
  type SubjectFinding,
  type UnjudgedReason,
  type Verdict,
} from '../../detection/index.ts'
import { countedUntil } from '../../journal/index.ts'
import { counted as countOf, DAY, floorTo, isoTime, MINUTE, namesInWords } from '../../lib/index.ts'
import type { Kysely, SiteRow, Store, Tables } from '../../store/index.ts'
import { type Refusals, readRefusals, readUnknownKeys } from './refusals.ts'
import type { Unjudged } from './unjudged.ts'

/** If the counts are further behind than this, sites that do send would look silent. */
const MOST_BEHIND_MS = 2 * MINUTE
/** How many of the 16,000 characters of `details` findings may take. */
const FINDINGS_MAX = 14_000

/** What a run that judges counts is given. */
export interface Counting {
  store: Pick<Store, 'reports'>
  site: SiteRow
  now: number
}

/** The outcome of such a run. */
export interface CountsOutcome {
  status: Status | 'error'
  reason?: UnjudgedReason
  message: string
  details: Readonly<Record<string, unknown>>
  findings?: readonly SubjectFinding[]
  /** See `ProbeOutcome`. */
  fine?: readonly Subject[]
  isRefused?: boolean
}

/**
 * Reads a site's counts since `from` in one snapshot and judges them. The outcome is an `error` when the counts are behind, because the
 * fold is or the replica that serves reports, and, for a type that judges whether data arrive, while no process receives any.
 *
 * While the site's requests are refused, there is nothing to judge, and the outcome says why they are refused. Only a type that judges
 * whether data arrive reports a loss.
 *
 * @param unjudged returns the reason and message when nothing can be judged
 * @param whenRefused the status that a used-up quota has for a type that judges whether data arrive; undefined for other types
 */
export const judgeCounts = <T>(
  counting: Counting,
  from: number,
  read: (snapshot: Snapshot) => Promise<T>,
  judge: (counts: T) => Verdict,
  unjudged: (counts: T) => Unjudged,
  whenRefused?: 'warning' | 'critical',
): Promise<CountsOutcome> => judgeLearnt(counting, from, read, (counts) => counts, judge, unjudged, whenRefused)

/**
 * Like `judgeCounts`, but judges what `learn` makes of the counts.
 *
 * @param learn runs after the snapshot is closed, so it may take its time
 */
export async function judgeLearnt<C, T>(
  { store, site, now }: Counting,
  from: number,
  read: (snapshot: Snapshot) => Promise<C>,
  learn: (counts: C) => T | Promise<T>,
  judge: (learnt: T) => Verdict | Promise<Verdict>,
  unjudged: (learnt: T) => Unjudged,
  whenRefused?: 'warning' | 'critical',
): Promise<CountsOutcome> {
  const range = { from: floorTo(from, DAY), to: now + MINUTE }
  const counted = await countedUntil(store, site.site_no, now)
  const { counts, seenAt, listened, refusals } = await readSnapshot(store, site.site_no, range, async (snapshot) => ({
    counts: await read(snapshot),
    seenAt: await lastSeenAt(snapshot.db),
    listened: whenRefused === undefined ? now : await lastListenedAt(snapshot.db),
    refusals: await readRefusals(snapshot.db, site, now),
  }))
  // A replica that lags behind has no newer heartbeat of any node.
  const complete = Math.min(counted, seenAt ?? counted)
  if (now - complete > MOST_BEHIND_MS) return behind(now, complete)
  if (now - (listened ?? now) > MOST_BEHIND_MS) return notListening(now, listened ?? now)
  const learnt = await learn(counts)
  const verdict = await judge(learnt)
  const judged = outcomeOfVerdict(verdict, () => unjudged(learnt))
  if (refusals !== null) return { ...explained(judged, refusals, whenRefused), isRefused: true }
  if (whenRefused === undefined || !(judged.reason === 'no_data' || lacksEvents(verdict))) return judged
  const unknownKeys = await readUnknownKeys(store.reports, site, now, judged.findings?.[0]?.startedAt)
  return unknownKeys === null ? judged : withHint(judged, unknownKeys)
}

/** Whether the worst is that the site as a whole has too few events: a wrong key loses no single event, and adds none. */
function lacksEvents({ details: { findings } }: Verdict): boolean {
  const [worst] = findings
  return worst !== undefined && isBad(worst) && isOfSite(worst) && worst.evidence.kind !== 'spike'
}

const isOfSite = ({ subject }: Finding): boolean => Object.keys(subject).length === 0

/** Turns a verdict into the outcome of a run, with the findings grouped into subjects that have alerts of their own. */
export function outcomeOfVerdict(
  { status, message, details, fine, idle }: Verdict,
  unjudged: () => Unjudged,
): CountsOutcome {
  const all = { ...details, ...shortened(details.findings) }
  return details.judged > 0
    ? { status, message, details: all, findings: bySubject(details.findings, idle), fine: fine.map(ofAlert) }
    : { status: 'ok', ...unjudged(), details: all, fine: [] }
}

/** Appends a possible cause to the message of a silence or a fall, or of a site without any data yet. */
export function withHint(judged: CountsOutcome, hint: string): CountsOutcome {
  if (judged.status === 'ok' && judged.reason !== 'no_data') return judged
  const message = `${judged.message}; ${hint}`
  const findings = judged.findings?.map((finding) =>
    finding.message === judged.message ? { ...finding, message } : finding,
  )
  return { ...judged, message, ...(findings === undefined ? {} : { findings }) }
}

/** Replaces or completes an outcome that the site's refused requests explain. */
function explained(judged: CountsOutcome, refusals: Refusals, whenRefused?: 'warning' | 'critical'): CountsOutcome {
  const { why, since, requests, lasts, message } = refusals
  const details = { ...judged.details, refused: { why, since: isoTime(since), requests } }
  // Someone revoked the key on purpose, so it is bad only while a sender still uses it.
  const loss = why === 'key_revoked' ? 'warning' : whenRefused
  if (lasts && whenRefused !== undefined && loss !== undefined && requests > 0) {
    return lost(loss, refusals, { ...details, findings: [], left_out: 0, judged: 1 })
  }
  if (lasts) {
    return {
      status: 'ok',
      reason: 'no_data',
      message,
      details: { ...details, findings: [], left_out: 0, judged: 0 },
      fine: [],
    }
  }
  if (judged.reason !== undefined) return { ...judged, message, details }
  const { status } = judged
  const isSilence = whenRefused !== undefined && (status === 'warning' || status === 'critical')
  return isSilence ? lost(status, refusals, details) : { ...judged, details }
}

/** The finding that the data of the whole site are lost. */
const lost = (
  status: 'warning' | 'critical',
  { since, message }: Refusals,
  details: CountsOutcome['details'],
): CountsOutcome => ({
  status,
  message,
  details,
  findings: [{ subject: {}, status, message, startedAt: since, details }],
  fine: [],
})

/**
 * Groups findings by alert. A tag that is missing from several events is one subject, whichever events they are: a dead tag
 * is one fault, and the events that show it change from run to run.
 */
function bySubject(findings: readonly Finding[], idle: Verdict['idle'] = new Map()): SubjectFinding[] {
  const grouped = Map.groupBy(findings.filter(isBad), ({ subject }) => JSON.stringify(ofAlert(subject)))
  return Array.from(grouped.values(), (ofSubject) => {
    const worst = ofSubject.find(({ status }) => status === 'critical') ?? ofSubject[0]
    return worst === undefined ? [] : [findingOf(worst, ofSubject, idle)]
  }).flat()
}

/** The subject of the alert about it. */
const ofAlert = ({ tag_key, ...rest }: Subject): Subject => (tag_key === undefined ? rest : { tag_key })

function findingOf(worst: Finding, all: readonly Finding[], idle: NonNullable<Verdict['idle']>): SubjectFinding {
  const starts = all.flatMap(({ since }) => (since === null ? [] : [Date.parse(since)]))
  const { tag_key } = worst.subject
  const events = all.flatMap(({ subject }) => (subject.tag_key === undefined ? [] : (subject.event_name ?? [])))
  const others = events.filter((event) => event !== worst.subject.event_name)
  return {
    subject: ofAlert(worst.subject),
    status: worst.status === 'critical' ? 'critical' : 'warning',
    message: others.length === 0 ? worst.message : `${worst.message} (likewise on ${namesInWords(others)})`,
    // A dead tag's rarer events would show it only hours later, which is no news by then.
    events: [...new Set([...events, ...(events.length === 0 ? [] : (idle.get(tag_key ?? '') ?? []))])],
    startedAt: starts.length === 0 ? null : Math.min(...starts),
    details: shortened([worst, ...all.filter((finding) => finding !== worst)]),
  }
}

async function lastSeenAt(db: Kysely<Tables>): Promise<number | null> {
  const { seen_at } = await db
    .selectFrom('nodes')
    .select((eb) => eb.fn.max<number | null>('seen_at').as('seen_at'))
    .executeTakeFirstOrThrow()
  return seen_at
}

/**
 * Returns the `now` of a run that judges counts: everything received before it is counted. On a busy node, requests wait up
 * to 15 s, which would look like a silence. Counts that are further behind are not judged, see `judgeCounts`.
 */
export async function timeToJudge(store: Pick<Store, 'reports'>, siteNo: number, now: number): Promise<number> {
  const counted = await countedUntil(store, siteNo, now)
  return now - counted > MOST_BEHIND_MS ? now : counted
}

function behind(now: number, complete: number): CountsOutcome {
  const minutes = Math.round((now - complete) / MINUTE)
  return {
    status: 'error',
    message: `The counts are ${minutes} minutes behind what was received`,
    details: { reason: 'counts_behind', complete_until: isoTime(complete), behind_seconds: (now - complete) / 1_000 },
  }
}

/** While no node receives requests, silence says nothing about the site, and the message must say so. */
export function notListening(now: number, listened: number): CountsOutcome {
  const minutes = Math.round((now - listened) / MINUTE)
  return {
    status: 'error',
    message: `No process of this service has accepted requests for ${countOf(minutes, 'minute')}`,
    details: { reason: 'not_listening', listened_until: isoTime(listened) },
  }
}

/** Returns as many findings as fit into `details`, and how many were left out. The worst come first. */
function shortened(findings: readonly Finding[]): { findings: readonly Finding[]; left_out: number } {
  let length = 0
  const fits = findings.findIndex((finding) => {
    length += JSON.stringify(finding).length + 1
    return length > FINDINGS_MAX
  })
  return fits === -1
    ? { findings, left_out: 0 }
    : { findings: findings.slice(0, fits), left_out: findings.length - fits }
}
