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
import { DAY, floorTo, isoTime, MINUTE, namesInWords } from '../../lib/index.ts'
import type { Kysely, SiteRow, Store, Tables } from '../../store/index.ts'
import { type Refusals, readRefusals, readUnknownKeys } from './refusals.ts'
import type { Unjudged } from './unjudged.ts'

/** With counts further behind than this, sites that send would be taken for silent ones. */
const MOST_BEHIND_MS = 2 * MINUTE
/** Of the 16,000 characters that details may have, those for findings. */
const FINDINGS_MAX = 14_000

/** What a run is given that judges counts. */
export interface Counting {
  store: Pick<Store, 'reports'>
  site: SiteRow
  now: number
}

/** What such a run found. */
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
 * Reads a site's counts since `from` in one snapshot and judges them. Counts that are behind, because the fold is or the
 * replica that reports are read from, are not judged: the outcome is an `error`. So is it for a type that judges whether data come
 * while no process takes any.
 *
 * While the site's requests are refused there is nothing to judge either: the outcome then says why they are. Only a type that
 * judges whether data come at all says that they are lost.
 *
 * @param unjudged what to say while nothing can be judged
 * @param whenRefused how bad it is, to such a type, that the quota is used up
 */
export const judgeCounts = <T>(
  counting: Counting,
  from: number,
  read: (snapshot: Snapshot) => Promise<T>,
  judge: (counts: T) => Verdict,
  unjudged: (counts: T) => Unjudged,
  whenRefused?: 'warning' | 'critical',
): Promise<CountsOutcome> => judgeLearnt(counting, from, read, (counts) => counts, judge, unjudged, whenRefused)

/** The same of what is made of the counts. @param learn is given them once the snapshot is closed, and may take its time */
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
  const { counts, seenAt, listened, refusals, unknownKeys } = await readSnapshot(
    store,
    site.site_no,
    range,
    async (snapshot) => ({
      counts: await read(snapshot),
      seenAt: await lastSeenAt(snapshot.db),
      listened: whenRefused === undefined ? now : await lastListenedAt(snapshot.db),
      refusals: await readRefusals(snapshot.db, site, now),
      unknownKeys: whenRefused === undefined ? null : await readUnknownKeys(snapshot.db, site, now),
    }),
  )
  // A database that lags behind has not seen a newer heartbeat of any node.
  const complete = Math.min(counted, seenAt ?? counted)
  if (now - complete > MOST_BEHIND_MS) return behind(now, complete)
  if (now - (listened ?? now) > MOST_BEHIND_MS) return deaf(now, listened ?? now)
  const learnt = await learn(counts)
  const judged = outcomeOfVerdict(await judge(learnt), () => unjudged(learnt))
  if (refusals !== null) return { ...explained(judged, refusals, whenRefused), isRefused: true }
  return unknownKeys === null ? judged : withHint(judged, unknownKeys)
}

/** What a verdict means for a run: the findings about each subject, of which each has its own alert. */
export function outcomeOfVerdict(
  { status, message, details, fine, idle }: Verdict,
  unjudged: () => Unjudged,
): CountsOutcome {
  const all = { ...details, ...shortened(details.findings) }
  return details.judged > 0
    ? { status, message, details: all, findings: bySubject(details.findings, idle), fine: fine.map(ofAlert) }
    : { status: 'ok', ...unjudged(), details: all, fine: [] }
}

/** A silence, or that nothing came yet, with what may be its cause. */
export function withHint(judged: CountsOutcome, hint: string): CountsOutcome {
  if (judged.status === 'ok' && judged.reason !== 'no_data') return judged
  const message = `${judged.message}; ${hint}`
  const findings = judged.findings?.map((finding) =>
    finding.message === judged.message ? { ...finding, message } : finding,
  )
  return { ...judged, message, ...(findings === undefined ? {} : { findings }) }
}

/** An outcome that a site's refused requests explain. */
function explained(judged: CountsOutcome, refusals: Refusals, whenRefused?: 'warning' | 'critical'): CountsOutcome {
  const { why, since, requests, lasts, message } = refusals
  const details = { ...judged.details, refused: { why, since: isoTime(since), requests } }
  // Someone revoked the key on purpose. It is bad only while a sender still uses it.
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

/** What says of the site as a whole that its data are lost. */
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
 * What is bad about each subject. A tag that is gone from several events is one subject, whichever they are: a dead tag is one
 * fault, and which events show it changes from run to run.
 */
function bySubject(findings: readonly Finding[], idle: Verdict['idle'] = new Map()): SubjectFinding[] {
  const grouped = Map.groupBy(findings.filter(isBad), ({ subject }) => JSON.stringify(ofAlert(subject)))
  return Array.from(grouped.values(), (ofSubject) => {
    const worst = ofSubject.find(({ status }) => status === 'critical') ?? ofSubject[0]
    return worst === undefined ? [] : [findingOf(worst, ofSubject, idle)]
  }).flat()
}

/** What an alert about it is about. */
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
    // Of a dead tag the rarer events show it hours later: that is no news by then.
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
 * What a run that judges counts takes for now: everything received before is in them. Of a busy node some wait for up to 15 seconds, which would
 * look like a silence. Counts that are further behind are not judged at all, see `judgeCounts`.
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

/** While no node takes requests, that nothing arrives says nothing about the site; the message has to say so all the same. */
function deaf(now: number, listened: number): CountsOutcome {
  const minutes = Math.round((now - listened) / MINUTE)
  return {
    status: 'error',
    message: `No process of this service has accepted requests for ${minutes} minutes`,
    details: { reason: 'not_listening', listened_until: isoTime(listened) },
  }
}

/** As many findings as details have room for, and how many were left out. The worst come first. */
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
