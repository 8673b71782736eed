import { counted, MINUTE, percent as percentOf } from '../../lib/index.ts'
import type { DigestIncident, DigestMessage, DigestSite } from '../message.ts'
import type { Card, CardOptions } from './card.ts'
import { cut, defanged, LocalTimes, lengthInWords, name, oneLine } from './card.ts'

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const ONE_DIGIT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

/** Makes a digest's card for chats, a few lines; the e-mail is complete. */
export function digestCard(digest: DigestMessage, { publicUrl }: CardOptions): Card {
  return {
    tone: 'neutral',
    heading: digestHeading(digest),
    what: incidentsInWords(digest),
    tail: null,
    paragraphs: downInWords(digest),
    facts: [],
    change: null,
    lines: digest.sites.map((site) => ({ tone: 'neutral', text: lineOf(site) })),
    footer: null,
    link: { label: 'Open Tagwarden', url: publicUrl },
    thread: null,
  }
}

function lineOf(site: DigestSite): string {
  const trend = trendOf(site)
  const score = scoreOf(site)
  return [
    `${name(site.name)}: ${counted(site.events, 'event')}${trend === null ? '' : ` (${trend})`}`,
    score === null ? 'no score' : `score ${score}`,
  ].join(', ')
}

/** Returns `[DIGEST] ACME — Fri 20 Nov 2026`. */
export const digestHeading = (digest: DigestMessage): string =>
  `[DIGEST] ${name(digest.client.name)} — ${periodOf(digest)}`

/** Returns the digest's incidents; none for a digest that a version without incidents wrote. */
export const incidentsOf = (digest: DigestMessage): readonly DigestIncident[] =>
  (digest as Partial<DigestMessage>).incidents ?? []

/** Returns the number of incidents, including those that are not listed. */
export function countsOf(digest: DigestMessage): { incidents: number; unresolved: number } {
  const listed = incidentsOf(digest)
  const unresolved = listed.filter(({ resolved_at }) => resolved_at === null).length
  return digest.counts ?? { incidents: listed.length, unresolved }
}

/** Returns `2 incidents, 1 unresolved`, `No incidents` or `No incidents: no probe is active`. */
export function incidentsInWords(digest: DigestMessage): string {
  const { incidents, unresolved } = countsOf(digest)
  if (incidents > 0)
    return `${counted(incidents, 'incident')}${unresolved === 0 ? '' : `, ${whole(unresolved)} unresolved`}`
  const { sites, unwatched = 0 } = digest
  // Without active probes nothing is found.
  if (unwatched === 0) return 'No incidents'
  if (unwatched >= sites.length) return 'No incidents: no probe is active'
  return `No incidents; ${unwatched} of ${sites.length} sites have no active probe`
}

/** Returns a sentence that Tagwarden itself was down in the period; none for less than a minute. */
export const downInWords = ({ down = 0, period }: DigestMessage): string[] =>
  down < MINUTE
    ? []
    : [
        `Tagwarden was down for ${lengthInWords(down)} of this ${period === 'daily' ? 'day' : 'week'}: what was sent in that time is not counted.`,
      ]

/** Returns `12 Nov 09:42 – 10:24 CET (42 min); new version; 267 of 425 purchases (63 %) lost; not notified`. */
export function aboutIncident(incident: DigestIncident, { timezone, to }: DigestMessage): string {
  const { began_at, resolved_at, cause, impact, unnotified } = incident
  const times = new LocalTimes(timezone)
  const when =
    resolved_at === null
      ? `${times.moment(began_at, to)}, unresolved`
      : `${times.span(began_at, resolved_at, to)} (${lengthInWords(resolved_at - began_at)})`
  const parts = [when, cause === null ? null : `cause: ${cause}`, impact === null ? null : `lost ${impact}`, unnotified]
  return cut(defanged(oneLine(parts.filter((part) => part !== null).join('; '))), ABOUT_MAX)
}

const ABOUT_MAX = 300

/** Versions in a digest: no one reads more. */
const VERSIONS = 50

export const whole = (value: number): string => WHOLE.format(value)

/** Returns a fraction as `69 %` or `99.6 %`; a change of one point already makes a tag count as worse. */
export const percent = (fraction: number): string => percentOf(fraction, ONE_DIGIT.format)

/** Returns `Fri 20 Nov 2026`, or the first and last day of several. */
function periodOf({ period, from, to, timezone }: DigestMessage): string {
  const times = new LocalTimes(timezone)
  // `to` is the midnight after the last day.
  const last = times.day(to - 1)
  if (period === 'daily') return last
  const first = times.day(from)
  return `${first.slice(-4) === last.slice(-4) ? first.slice(0, -5) : first} – ${last}`
}

/** Returns `+12 %` or `as before`; null when there is nothing to compare with. */
export function trendOf({ events, events_before: before }: DigestSite): string | null {
  if (before === null) return null
  if (before === 0) return events === 0 ? 'as before' : 'none before'
  // A few events are not −100 %.
  const change = Math.max(events === 0 ? -100 : -99, Math.round(100 * (events / before - 1)))
  if (change === 0) return 'as before'
  return change > 0 ? `+${whole(change)} %` : `−${whole(-change)} %`
}

/** Returns `71 (was 82)` or `71`, rounded down as on the dashboard: 69.8 is below the band that begins at 70. Null without one. */
export function scoreOf({ score, score_before: before }: DigestSite): string | null {
  if (score === null) return null
  const [now, then] = [Math.floor(score), before === null ? null : Math.floor(before)]
  return then === null || then === now ? `${now}` : `${now} (was ${then})`
}

/** Returns what else to know in the morning, in sections of lines; empty ones are missing. */
export function morningOf({ morning, timezone, to }: DigestMessage): { title: string; lines: string[] }[] {
  if (morning === undefined) return []
  const times = new LocalTimes(timezone)
  const { changes, hours_left_out: left = 0, versions, quota, muted } = morning
  const sections = [
    {
      title: 'Biggest changes from the week before',
      lines: [
        ...changes.map(({ site, text }) => `${site}: ${text}`),
        ...(changes.length === 0 || left === 0 ? [] : [`Leaves out ${counted(left, 'hour')} when Tagwarden was down`]),
      ],
    },
    {
      title: versions.length < VERSIONS ? 'Versions published' : `Versions published, the latest ${VERSIONS}`,
      lines: versions.map(({ site, text, at }) => `${site}: ${text}, ${times.moment(at, to)}`),
    },
    {
      title: 'Monthly quota',
      lines: quota === null ? [] : [`${whole(quota.events)} of ${whole(quota.limit)} events are used up`],
    },
    {
      title: 'Muted',
      lines: muted.map(({ kind, of, why, ends_at }) => {
        const until = ends_at === null ? 'until it is resolved' : `until ${times.moment(ends_at, to)}`
        return `${kind === 'silence' ? 'Silence' : 'Maintenance'} of ${of}, ${until}${why === null ? '' : `: ${why}`}`
      }),
    },
  ]
  return sections.flatMap(({ title, lines }) =>
    lines.length === 0 ? [] : [{ title, lines: lines.map((line) => cut(defanged(oneLine(line)), ABOUT_MAX)) }],
  )
}

/** Returns lines such as `Meta CAPI succeeded in 69 % (was 99.6 %)`. */
export const worseTagsOf = ({ worse_tags }: DigestSite): string[] =>
  worse_tags.map(
    ({ tag_key, success_rate, success_rate_before }) =>
      `${cut(defanged(oneLine(tag_key)), 80)} succeeded in ${percent(success_rate)} (was ${percent(success_rate_before)})`,
  )
