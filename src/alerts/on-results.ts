import { readDowntime } from '../cluster/index.ts'
import { type Clock, DAY, newOrderedId, quoted, withoutEnd } from '../lib/index.ts'
import type { ChannelSettings } from '../notifications/index.ts'
import { type Finished, type Subject, type SubjectResult, subjectKey, subjectLabel, WHOLE } from '../probes/index.ts'
import { type AlertRow, chunksOf, lockText, type Store, type Tables, type Transaction } from '../store/index.ts'
import type { PendingTransition } from './incidents/due-messages.ts'
import { transition } from './machine/transition.ts'
import { type AlertInput, SILENT, type Streak, streakOf, type Violation } from './machine/types.ts'
import { loadMutes, markMaintained } from './mutes.ts'
import { type AlertContext, loadContext, rulesOf } from './rules.ts'
import { vendorSaidOf } from './tag-vendor.ts'
import { lockUnresolved, writeTransitions } from './write-transitions.ts'

/**
 * Updates alerts for new results, in the transaction that writes the results, so that a crash leaves both or neither. Nearly all
 * results are good and of probes without an alert; they cost three small reads in all.
 */
export async function judgeResults(
  trx: Transaction<Tables>,
  store: Pick<Store, 'isShared'>,
  written: readonly Finished[],
  channelSettings: ChannelSettings,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const probeIds = written.map(({ probe }) => probe.id)
  const locked = await lockUnresolved(trx, store, await probesToLock(trx, store, written))
  // Once they are locked: what began or ended while this waited counts.
  const now = clock.now()
  const mutes = await loadMutes(trx, now)
  await markMaintained(trx, written, mutes, now)
  const ofWritten = new Set(probeIds)
  const unresolved = locked.filter(({ probe_id }) => ofWritten.has(probe_id))
  const { alerts, replaced } = await adoptAlerts(trx, written, unresolved, now)
  const judgements = judgementsOf(written, alerts)
  if (judgements.length === 0 && replaced.length === 0) return
  const context = await loadContext(trx, { probeIds, mutes, channelSettings, now })
  const pending = [...replaced]
  for (const judgement of judgements) pending.push(...(await pendingOf(trx, judgement, context, now)))
  await writeTransitions(trx, store, pending, context)
}

/**
 * Returns the probes whose alerts may change. Where a result is bad these are all probes of the site, as an alert that opens may
 * explain others. An advisory lock lets one transaction at a time open alerts on a site: otherwise two that find two signs of one
 * fault would notify twice.
 */
async function probesToLock(
  trx: Transaction<Tables>,
  store: Pick<Store, 'isShared'>,
  written: readonly Finished[],
): Promise<string[]> {
  const bad = written.filter(({ status, subjects }) => status === 'error' || (subjects?.length ?? 0) > 0)
  const siteIds = [...new Set(bad.map(({ site }) => site.id))].sort()
  const probeIds = new Set(written.map(({ probe }) => probe.id))
  for (const chunk of chunksOf(siteIds)) {
    for (const id of chunk) await lockText(trx, store, id)
    const rows = await trx
      .selectFrom('alerts')
      .select('probe_id')
      .distinct()
      .where('site_id', 'in', chunk)
      .where('state', '<>', 'resolved')
      .execute()
    for (const { probe_id } of rows) probeIds.add(probe_id)
  }
  return [...probeIds].sort()
}

async function pendingOf(
  trx: Transaction<Tables>,
  judgement: Judgement,
  context: AlertContext,
  now: number,
): Promise<PendingTransition[]> {
  const { finished, key, streak, violation, events, alert } = judgement
  const source = context.sources.get(finished.probe.id)
  // The probe was run by hand while paused, or paused during the run: its result opens no alert.
  if (source === undefined || !source.isActive) return []
  const identity = {
    id: newOrderedId(now),
    client_id: source.client.id,
    site_id: source.site.id,
    probe_id: finished.probe.id,
    probe_type: finished.probe.probe_type,
    subject: key,
    vendor: alert === null ? await vendorSaidOf(trx, source.site.id, violation.details) : alert.vendor,
  }
  const began = alert === null ? await startOf(trx, judgement) : (judgement.startedAt ?? alert.started_at)
  // The first five-minute slot of counts may begin before the site was created.
  const startedAt = Math.max(began, finished.site.created_at)
  const input: AlertInput =
    alert !== null && (await isGone(trx, judgement, alert, now))
      ? { type: 'gone' }
      : { type: 'result', streak, violation, startedAt, events, identity }
  const { incident_id, announced_at } = alert ?? { incident_id: null, announced_at: null }
  const rules = rulesOf({ subject: key, incident_id, announced_at, details: violation.details }, source, context)
  return [{ before: alert, transition: transition(alert, input, rules, now), source }]
}

/**
 * Earlier versions had one alert for everything that a probe found. With the first result after the upgrade it becomes the alert of
 * the subject that its last bad result named. Where that is unknown it closes without a message, and what is bad opens new alerts.
 */
async function adoptAlerts(
  trx: Transaction<Tables>,
  written: readonly Finished[],
  alerts: readonly AlertRow[],
  now: number,
): Promise<{ alerts: AlertRow[]; replaced: PendingTransition[] }> {
  const bySubject = new Set(
    written.flatMap(({ probe, subjects, judgesSubjects }) => (judgesSubjects && subjects !== null ? [probe.id] : [])),
  )
  const kept: AlertRow[] = []
  const replaced: PendingTransition[] = []
  for (const alert of alerts) {
    const subject = alert.subject === WHOLE && bySubject.has(alert.probe_id) ? subjectIn(alert.details) : {}
    const key = subject === null ? null : subjectKey(subject)
    const isTaken = alerts.some((other) => other.probe_id === alert.probe_id && other.subject === key)
    if (key === WHOLE) kept.push(alert)
    else if (subject === null || key === null || isTaken) {
      replaced.push({
        before: alert,
        transition: transition(alert, { type: 'replaced' }, SILENT, now),
        source: undefined,
      })
    } else {
      const renamed = { subject: key, subject_label: subjectLabel(subject) }
      await trx.updateTable('alerts').set(renamed).where('id', '=', alert.id).execute()
      kept.push({ ...alert, ...renamed })
    }
  }
  return { alerts: kept, replaced }
}

/** Returns the subject of an alert's details, or null when they name none. */
function subjectIn(details: string): Subject | null {
  const { findings } = JSON.parse(details) as { findings?: readonly { subject?: Subject }[] }
  // A refusal has none, and is about the whole site.
  const subject = findings?.length === 0 ? {} : Array.isArray(findings) ? findings[0]?.subject : undefined
  if (subject === undefined) return null
  // An alert about a tag covers all events that the tag should run on.
  return subject.tag_key === undefined ? subject : { tag_key: subject.tag_key }
}

/**
 * Returns when that began for which an alert is about to open, epoch ms: as the result says, or else at the first bad result of the
 * streak. That may be an earlier result, after an alert was resolved by hand or when it takes three errors to open, but never one
 * from before a pause.
 */
async function startOf(trx: Transaction<Tables>, judgement: Judgement): Promise<number> {
  const { finished, startedAt, history, key } = judgement
  const { executed_at, probe_id } = finished.result
  if (startedAt !== null) return startedAt
  const back = resultsSince(history, key === 'check')
  if (back === 0) return executed_at
  // While the probe was paused no one looked, so earlier bad results say nothing about the time since.
  const paused = await trx
    .selectFrom('alerts')
    .select(({ fn }) => fn.max('resolved_at').as('at'))
    .where((eb) => eb.and({ probe_id, subject: key, resolution: 'probe_removed' }))
    .executeTakeFirst()
  const results = await trx
    .selectFrom('probe_results')
    .select('executed_at')
    .where('probe_id', '=', probe_id)
    .orderBy('id', 'desc')
    .limit(back + 1)
    .execute()
  const first = results.findLast((one) => one.executed_at > (paused?.at ?? 0))
  return Math.min(executed_at, first?.executed_at ?? executed_at)
}

/** Returns how many results ago the last result's streak began; 0 when it began with it. */
function resultsSince(history: string, isCheck: boolean): number {
  const before = isCheck ? withoutEnd(history, 'e').length : history.lastIndexOf('o') + 1
  const since = history.slice(before)
  const first = isCheck ? 0 : since.search(/[wc]/)
  return Math.max(0, since.length - Math.max(0, first) - 1)
}

/** An alert about a tag, event or field ends when nothing of it arrived for this time, ms. */
const GONE_AFTER_MS = DAY

/**
 * Returns whether an alert is about something that no longer arrives: its tag was removed or renamed, or its event is no longer
 * sent. An alert about the whole site never ends this way, because it may be about exactly that.
 */
async function isGone(trx: Transaction<Tables>, judgement: Judgement, alert: AlertRow, now: number): Promise<boolean> {
  if (!judgement.isUnseen || judgement.key === WHOLE) return false
  const since = lastSeenIn(alert)
  if (now - since < GONE_AFTER_MS) return false
  // While Tagwarden was down it could see nothing.
  return now - since - (await readDowntime(trx, since, now)) >= GONE_AFTER_MS
}

/**
 * Returns when the subject was last seen, epoch ms. A probe with a long window keeps finding bad what has already stopped, so the
 * `last_seen` of its evidence counts where there is one.
 */
function lastSeenIn({ details, last_seen_at }: AlertRow): number {
  const { findings } = JSON.parse(details) as { findings?: readonly { evidence?: { last_seen?: unknown } }[] }
  const newest = Array.isArray(findings) ? findings[0]?.evidence?.last_seen : undefined
  const at = typeof newest === 'string' ? Date.parse(newest) : Number.NaN
  return Number.isNaN(at) ? last_seen_at : at
}

/** What a result says about one subject, and the alert that it may change. */
interface Judgement {
  finished: Finished
  /** The subject's key, as in `alerts.subject`. */
  key: string
  /** Letters of the subject's last results, including this one, oldest first. */
  history: string
  streak: Streak
  violation: Violation
  /** When it became bad, where the result says so. Epoch ms. */
  startedAt: number | null
  /** For a tag that is judged on each of its events: those on which it is bad. */
  events: readonly string[]
  alert: AlertRow | null
  /** The probe looked for it, but nothing arrived, or too little to judge. */
  isUnseen: boolean
}

/** Returns a judgement for each subject that is bad or has an alert. */
function judgementsOf(written: readonly Finished[], alerts: readonly AlertRow[]): Judgement[] {
  const byProbe = Map.groupBy(alerts, ({ probe_id }) => probe_id)
  return written.flatMap((finished) => {
    const ofProbe = new Map((byProbe.get(finished.probe.id) ?? []).map((alert) => [alert.subject, alert]))
    return [...aboutSubjects(finished, ofProbe), ...aboutCheck(finished, ofProbe)]
  })
}

type AlertsBySubject = ReadonlyMap<string, AlertRow>

/** A judged subject that is not among the bad ones is fine; of one that was not judged nothing is known. */
function aboutSubjects(finished: Finished, alerts: AlertsBySubject): Judgement[] {
  const { subjects, historyOf, sightOf } = finished
  if (subjects === null && ![...alerts.keys()].some((key) => sightOf(key) === 'unseen')) return []
  const base = (key: string) => {
    const history = historyOf(key)
    const known = streakOf('target', history)
    const sight = sightOf(key)
    const streak: Streak = sight === 'seen' ? known : { ...known, verdict: 'silent' }
    return { finished, key, history, streak, alert: alerts.get(key) ?? null, isUnseen: sight === 'unseen' }
  }
  const results = subjects ?? []
  const bad = new Set(results.map(({ key }) => key))
  const fine = [...alerts.values()].filter(({ subject }) => subject !== 'check' && !bad.has(subject))
  return [
    ...results.map((result) => ({
      ...base(result.key),
      violation: violationOf(result),
      startedAt: result.startedAt,
      events: result.events,
    })),
    ...fine.map((alert) => ({ ...base(alert.subject), violation: unchanged(alert), startedAt: null, events: [] })),
  ]
}

function aboutCheck(finished: Finished, alerts: AlertsBySubject): Judgement[] {
  if (finished.isOurs) return []
  const history = finished.recentStatuses
  const streak = streakOf('check', history)
  const alert = alerts.get('check') ?? null
  if (alert === null && streak.verdict !== 'bad') return []
  const violation = checkViolation(finished)
  return [{ finished, key: 'check', history, streak, violation, startedAt: null, events: [], alert, isUnseen: false }]
}

const unchanged = ({ severity, subject_label, title, message, details }: AlertRow): Violation => ({
  severity: severity === 'critical' ? 'critical' : 'warning',
  subject_label,
  title,
  message,
  details,
})

const TITLE_MAX = 160

const violationOf = ({ status, label, message, details }: SubjectResult): Violation => ({
  severity: status,
  subject_label: label,
  title: shortened(message),
  message,
  details,
})

const checkViolation = ({ probe, result: { message, details } }: Finished): Violation => ({
  severity: 'warning',
  subject_label: null,
  title: shortened(`${quoted(probe.name)} cannot check: ${message}`),
  message,
  details,
})

/** Cuts a text to `TITLE_MAX` UTF-16 units, between words and never inside a surrogate pair. */
function shortened(text: string): string {
  if (text.length <= TITLE_MAX) return text
  const cut = text.slice(0, TITLE_MAX - 1).replace(/[\ud800-\udbff]$/, '')
  const space = cut.lastIndexOf(' ')
  return `${space > TITLE_MAX / 2 ? cut.slice(0, space) : cut}…`
}
