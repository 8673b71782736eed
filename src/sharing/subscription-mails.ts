import type { Schedule, Window } from '../alerts/index.ts'
import { DAY } from '../lib/index.ts'
import { composeNotice, LocalTimes } from '../notifications/index.ts'
import type { StatusSubscriberRow } from '../store/index.ts'

/** Changes older than this are not sent, ms. */
const STALE_MS = DAY

/** An incident began to be shown, was back, or ended. Times are epoch ms. */
export interface StatusChange {
  /** Of the incident. */
  id: string
  /** When it was announced. */
  at: number
  /** The time that the page shows: when it began or ended. */
  saidAt: number
  kind: 'opened' | 'back' | 'resolved'
  site: string
  title: string
  timezone: string
}

/** Maintenance was planned, changed or cancelled. */
export interface MaintenanceChange {
  at: number
  kind: 'planned' | 'changed' | 'cancelled'
  /** A site's name, or that it is all of them. */
  site: string
  timezone: string
  schedule: Schedule
  /** The occurrence under way, or else the next one. */
  window: Window
}

/** Whether a change is to be e-mailed to someone who knows of everything up to `until`. */
export const isNews = ({ at }: { at: number }, until: number, now: number): boolean => at > until && at > now - STALE_MS

interface Links {
  page: string
  subscription: string
}

/**
 * Returns the links in a subscriber's e-mails.
 *
 * @param publicUrl without a trailing slash
 */
export function linksFor({ token, secret }: Pick<StatusSubscriberRow, 'token' | 'secret'>, publicUrl: string): Links {
  const page = `${publicUrl}/status/${token}`
  return { page, subscription: `${page}/subscription/${secret}` }
}

/** Returns the e-mail that asks the owner of the address to confirm. */
export const confirmationMail = (client: string, { subscription }: Links) =>
  composeNotice({
    subject: `Confirm e-mail about the status of ${client}`,
    lines: [
      `Someone, probably you, asked for e-mail about incidents and maintenance of ${client}.`,
      'Nothing is sent until you confirm it. If it was not you, do nothing: the address is deleted after two days.',
    ],
    link: { label: 'Confirm', url: subscription },
    footer: { text: 'Sent by Tagwarden.' },
  })

/** Lines of an e-mail: no one reads more. */
const MOST_LINES = 30

const SAID = { opened: '■ Open since', back: '■ Open again since', resolved: '✓ Resolved at' } as const

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function maintenanceText({ kind, site, timezone, schedule, window }: MaintenanceChange, now: number): string {
  const span = new LocalTimes(timezone).span(window.startsAt, window.endsAt, now)
  const days = schedule.kind === 'weekly' ? schedule.weekdays.map((day) => WEEKDAYS[day - 1]).join(', ') : ''
  const when =
    schedule.kind === 'once'
      ? span
      : `every ${days} at ${schedule.start} (${schedule.timezone})${kind === 'cancelled' ? '' : `, next ${span}`}`
  return `${site}: maintenance ${kind}, ${when}`
}

const isMaintenance = (change: StatusChange | MaintenanceChange): change is MaintenanceChange => 'schedule' in change

function subjectOf(change: StatusChange | MaintenanceChange, now: number): string {
  if (isMaintenance(change)) return maintenanceText(change, now)
  return `${change.kind === 'resolved' ? 'resolved, ' : ''}${change.site}: ${change.title}`
}

function lineOf(change: StatusChange | MaintenanceChange, now: number): string {
  if (isMaintenance(change)) return `◷ ${maintenanceText(change, now)}`
  const { saidAt, kind, site, title, timezone } = change
  return `${SAID[kind]} ${new LocalTimes(timezone).moment(saidAt, now)}: ${site}: ${title}`
}

/** The incident if the e-mail is about one that lasts; the page of one that ended is gone when its site was paused. */
function linkOf(changes: readonly (StatusChange | MaintenanceChange)[], page: string) {
  const [first, second] = changes
  return first !== undefined && second === undefined && !isMaintenance(first) && first.kind !== 'resolved'
    ? { label: 'Open the incident', url: `${page}/incidents/${first.id}` }
    : { label: 'Open the status page', url: page }
}

/** Returns the e-mail about changes. */
export function changesMail(
  client: string,
  changes: readonly (StatusChange | MaintenanceChange)[],
  { page, subscription }: Links,
  now: number,
) {
  const [first] = changes
  const shown = changes.slice(0, MOST_LINES)
  const rest = changes.length - shown.length
  return composeNotice({
    subject:
      first !== undefined && changes.length === 1
        ? `${client}: ${subjectOf(first, now)}`
        : `${client}: ${changes.length} status changes`,
    lines: [...shown.map((change) => lineOf(change, now)), ...(rest > 0 ? [`and ${rest} more`] : [])],
    link: linkOf(changes, page),
    footer: {
      text: `You get this because you subscribed to the status of ${client}.`,
      link: { label: 'Unsubscribe', url: subscription },
    },
  })
}
