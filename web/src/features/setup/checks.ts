import type { RecentAnswer, SiteReport, TagReport, TimeseriesAnswer } from '../../api/analytics.ts'
import type { UsageRecord } from '../../api/clients.ts'
import type { Status } from '../../api/overview.ts'
import { counted, percent, whole } from '../../lib/words.ts'
import { clockFault } from './clock.ts'
import { SAMPLE_CONTAINER } from './ingest.ts'

/** One line of the checklist: a finding, and what to do about it. */
export interface Check {
  id: string
  status: Status
  title: string
  text: string
}

export interface Facts {
  /** Of the last 24 hours. */
  report: SiteReport
  recent: RecentAnswer
  usage: UsageRecord
  /** Events by the minute. */
  minutes: TimeseriesAnswer
}

type Accepted = RecentAnswer['accepted'][number]
type Mode = 'per_event' | 'batched' | 'both'

/** The container that a payload came from. */
export const containerOf = (payload: Accepted): unknown =>
  'container_id' in payload ? payload.container_id : undefined
const isBatch = (payload: Accepted): boolean => 'batch' in payload && payload.batch === true

/** Whether anything but samples has arrived. */
export const isTagHeard = ({ containers }: Pick<SiteReport, 'containers'>): boolean =>
  containers.some(({ container_id }) => container_id !== SAMPLE_CONTAINER)

/** Warnings that the check of the plan reports already. */
const QUOTA_WARNINGS: readonly string[] = ['quota_near', 'quota_used_up']

/** The checks of what the tag sent. */
export function checksOf(facts: Facts): Check[] {
  const { report, recent } = facts
  const mode = modeOf(recent)
  const clock = clockFault(recent.accepted.filter((payload) => containerOf(payload) !== SAMPLE_CONTAINER))
  return [
    ownTagCheck(report),
    namesCheck(report.tags),
    ...(mode === null ? [] : [modeCheck(mode, facts)]),
    usageCheck(facts),
    ...(clock === null
      ? []
      : [{ id: 'clock', status: 'warning' as const, title: WARNING_TITLES.clock_skew, text: clock }]),
    ...report.warnings
      .filter(({ code }) => !QUOTA_WARNINGS.includes(code) && !(code === 'clock_skew' && clock !== null))
      .map(({ code, message }) => warningCheck(code, message)),
  ]
}

/** A tag this fast cannot have asked another host, ms. */
const NO_WORK_MS = 5
const ENOUGH = 20

function ownTagCheck({ tags, total_events }: SiteReport): Check {
  const check = { id: 'own-tag', title: 'The tag excludes itself' }
  const named = tags.find(({ tag_key }) => /tagwarden/i.test(tag_key))
  const remedy = 'Open the monitoring tag, read its id after /tags/ in the address, and add it to its excluded tags.'
  if (named !== undefined) {
    return {
      ...check,
      status: 'warning',
      text: `It reports itself as "${named.tag_key}", always successful. ${remedy}`,
    }
  }
  const suspect = tags.find((tag) => isUnnamed(tag) && looksLikeOwn(tag, total_events))
  if (suspect !== undefined) {
    const text = `"${suspect.tag_key}" runs on every event, never fails and takes no time: it may be the monitoring tag itself. ${remedy}`
    return { ...check, status: 'warning', text }
  }
  return { ...check, status: 'ok', text: 'The monitoring tag is not among the tags that were seen.' }
}

const looksLikeOwn = (tag: TagReport, events: number): boolean =>
  tag.executions >= Math.max(ENOUGH, events) &&
  tag.success === tag.executions &&
  tag.avg_ms !== null &&
  tag.avg_ms <= NO_WORK_MS

/** Shown by its id, because the container sent no name. */
const isUnnamed = ({ tag_key, tag_name }: TagReport): boolean => tag_name === null && /^tag_\d+$/.test(tag_key)

const SHOWN_NAMES = 4

function namesCheck(tags: readonly TagReport[]): Check {
  const check = { id: 'names', title: 'Tags have names' }
  const unnamed = tags.filter(isUnnamed)
  if (tags.length === 0) return { ...check, status: 'unknown', text: 'No tag was reported in the last 24 hours.' }
  if (unnamed.length === 0) {
    const who = tags.length === 1 ? 'The only tag that ran is' : `All of the ${whole(tags.length)} tags that ran are`
    return { ...check, status: 'ok', text: `${who} known by name.` }
  }
  const shown = unnamed.slice(0, SHOWN_NAMES).map(({ tag_key }) => tag_key)
  const list = `${shown.join(', ')}${unnamed.length > SHOWN_NAMES ? ' …' : ''}`
  const text =
    `${unnamed.length} of ${counted(tags.length, 'tag')} ${unnamed.length === 1 ? 'is' : 'are'} known by id only: ${list}. ` +
    'On each: Advanced Settings, Additional Tag Metadata, tick “Include tag name” with the key “name”. Their history stays together.'
  return { ...check, status: 'warning', text }
}

function modeOf({ accepted }: RecentAnswer): Mode | null {
  const own = accepted.filter((payload) => containerOf(payload) !== SAMPLE_CONTAINER)
  if (own.length === 0) return null
  if (own.every(isBatch)) return 'batched'
  return own.some(isBatch) ? 'both' : 'per_event'
}

/** Events per second in the busiest minute. */
function peakOf({ series, bucket_seconds }: TimeseriesAnswer): number {
  const values = series.flatMap(({ points }) => points.map(({ value }) => value ?? 0))
  return Math.max(0, ...values) / bucket_seconds
}

/** Above this share of the allowed rate, peaks within the minute may exceed it. */
const TIGHT = 0.5
/** Below this share, batching would save nothing. */
const ROOMY = 0.1

function modeCheck(mode: Mode, { report, recent, usage, minutes }: Facts): Check {
  const check = { id: 'mode', title: 'The send mode fits the traffic' }
  const { requests_per_second: allowed } = usage
  const peak = peakOf(minutes)
  const refused = report.rejections.rate_limited ?? 0
  const limits = limitsMet(recent)
  const pace = `${rate(peak)} a second in the busiest minute`
  if (allowed === null) {
    const words = mode === 'batched' ? 'Batches' : 'Per event'
    return { ...check, status: 'ok', text: `${words}, ${pace}; the client's plan has no limit of requests.` }
  }
  const limit = `the ${allowed} that the client's plan allows all of its sites`
  if (refused > 0 && limits.has('requests per second')) {
    const were = `${counted(refused, 'request')} of the last 24 hours`
    const fast = limits.size === 1 ? `${were} came too fast` : `Of ${were} that were refused, some came too fast`
    const text = `${fast}: over ${limit}. Send batches, or choose a larger plan.`
    return { ...check, status: 'critical', text }
  }
  if (mode === 'batched') {
    if (peak > allowed * ROOMY) return { ...check, status: 'ok', text: `Batches save requests here: ${pace}.` }
    const text = `Batched, but with ${pace} it could send per event: that adds percentiles, the table of events by tags, and names with ids.`
    return { ...check, status: 'ok', text }
  }
  if (peak > allowed * TIGHT) {
    const text = `Per event with ${pace}, close to ${limit}. Shorter peaks may be refused: send batches, or choose a larger plan.`
    return { ...check, status: 'warning', text }
  }
  const both = mode === 'both' ? 'Some payloads are per event and some are batches; ' : 'Per event; '
  return { ...check, status: 'ok', text: `${both}${pace}, far below ${limit}.` }
}

/** The limits named by the newest refusals; their count does not tell them apart. */
const limitsMet = ({ rejections }: RecentAnswer): ReadonlySet<string> =>
  new Set(rejections.filter(({ reason }) => reason === 'rate_limited').map(({ path }) => path))

/** A rate with two digits: "0.53 events", "1 event", "420 events". */
const rate = (perSecond: number): string => {
  const rounded = perSecond < 10 ? Number(perSecond.toPrecision(2)) : Math.round(perSecond)
  return rounded < 10 && rounded !== 1 ? `${rounded} events` : counted(rounded, 'event')
}

function usageCheck({ usage, report, recent }: Facts): Check {
  const { share, level, limit, events } = usage
  const check = { id: 'usage', title: 'The plan has room' }
  if (limit === null || share === null) {
    return { ...check, status: 'ok', text: `${whole(events)} events this month; the client's plan has no limit.` }
  }
  const used = `${percent(share)} of the ${whole(limit)} events of the client's plan are used this month`
  if (level === 'exceeded') {
    return {
      ...check,
      status: 'critical',
      text: `${used}: further ones are refused until the month ends. Choose a larger plan.`,
    }
  }
  if ((report.rejections.rate_limited ?? 0) > 0 && limitsMet(recent).has('events per month')) {
    const text = `${used}: batches of more events than are left are refused. Send smaller ones, or choose a larger plan.`
    return { ...check, status: 'critical', text }
  }
  if (level === 'warning')
    return { ...check, status: 'warning', text: `${used}: it may not last until the month ends.` }
  return { ...check, status: 'ok', text: `${used}.` }
}

const WARNING_TITLES: Readonly<Record<SiteReport['warnings'][number]['code'], string>> = {
  clock_skew: 'A clock is wrong',
  quota_near: 'The quota is nearly used up',
  quota_used_up: 'The quota is used up',
  key_revoked: 'The key is revoked',
  user_data_over_total: 'More user data than events',
  ecommerce_over_total: 'More e-commerce data than events',
  events_over_cap: 'Too many event names',
  tags_over_cap: 'Too many tags',
  containers_over_cap: 'Too many containers',
  tag_ids_over_cap: 'Too many tag ids',
}

const warningCheck = (code: SiteReport['warnings'][number]['code'], message: string): Check => ({
  id: code,
  status: 'warning',
  title: WARNING_TITLES[code],
  text: `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`,
})
