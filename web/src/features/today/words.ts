import type { ChangeRecord, Today } from '../../api/today.ts'
import { counted, dateFormat, duration, percent, whole } from '../../lib/words.ts'

/** "Wednesday 25 November 2026, 14:20 CET" */
export const dateLine = (at: number, zone: string): string =>
  inZone(at, zone, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  })
    .replace(/^(\w+), /, '$1 ')
    .replace(' at ', ', ')

/** "Tue 24 Nov, 18:00" */
export const momentLine = (at: number, zone: string): string =>
  inZone(at, zone, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
    .replace(/^(\w+), /, '$1 ')
    .replaceAll(' ', '\u00a0')

const inZone = (at: number, zone: string, options: Intl.DateTimeFormatOptions): string =>
  dateFormat(zone, { ...options, hourCycle: 'h23' }).format(at)

/** "2 opened · 1 resolved · 1 unresolved" */
export const nightWords = ({ opened, resolved, open }: Today['overnight']): string =>
  [`${whole(opened)} opened`, `${whole(resolved)} resolved`, `${whole(open)} unresolved`].join(' · ')

/** The API returns no more. */
const VERSIONS_MOST = 50

/** "in the last 24 hours", "in the last 24 hours, the latest 50" */
export const versionsWords = (count: number): string =>
  `in the last 24 hours${count < VERSIONS_MOST ? '' : `, the latest ${VERSIONS_MOST}`}`

/** Says that Tagwarden itself was down in the night; null when it was not, or only restarted. */
export function downWords({ down_seconds: seconds }: Pick<Today['overnight'], 'down_seconds'>): string | null {
  if (seconds < 60) return null
  return `Tagwarden was down for ${duration(1_000 * seconds)} of it: what broke and recovered meanwhile is not known.`
}

/** The words for a night without incidents. Where nothing was judged, or Tagwarden was down, none could open. */
export function calmWords(
  sites: number,
  unjudged: number,
  overnight: Pick<Today['overnight'], 'down_seconds'>,
): readonly [title: string, text: string] {
  if (sites === 0) return ['No site is watched', 'What breaks overnight is listed here. ']
  if (unjudged >= sites) {
    return ['No site is judged yet', 'So no incident could open: the overview says what each site is waiting for.']
  }
  const rest =
    unjudged === 0 ? '' : ` ${unjudged} of ${counted(sites, 'site')} ${unjudged === 1 ? 'is' : 'are'} not judged yet.`
  const down = downWords(overnight)
  if (down !== null) return ['No incident was seen overnight', `${down}${rest}`]
  return ['Nothing broke overnight', `No incident opened, and none is unresolved.${rest}`]
}

/** "12 of 14 sites compared: the others are younger than a week." Null when all are. */
export function comparedWords({ sites, changes }: Today): string | null {
  const { compared, complete, hours_left_out: left } = changes
  if (left > 0 && compared === 0) return 'Nothing is compared: Tagwarden was down in these hours, or a week before.'
  const sentences = [sitesCompared(sites, compared, complete), left === 0 ? null : leftOutWords(left)]
  const said = sentences.filter((sentence) => sentence !== null)
  return said.length === 0 ? null : said.join(' ')
}

const leftOutWords = (hours: number): string =>
  `${counted(hours, 'hour')} ${hours === 1 ? 'is' : 'are'} left out: Tagwarden was down then, or a week before.`

function sitesCompared(sites: number, compared: number, complete: boolean): string | null {
  if (!complete) return 'Not all sites are compared yet: the others follow automatically.'
  if (compared === 0) return 'No site sent anything to compare with last week.'
  if (compared === sites) return null
  return `${compared} of ${counted(sites, 'site')} compared: the others sent nothing, were paused, or are younger than a week.`
}

/** The subject of a change: "All events", "purchase", "Meta CAPI, runs". */
export function subjectWords({ kind, name }: Pick<ChangeRecord, 'kind' | 'name'>): string {
  if (kind === 'events') return 'All events'
  return `${name ?? ''}${kind === 'tag_runs' ? ', runs' : kind === 'tag_failures' ? ', failure rate' : ''}`
}

export const valueWords = ({ kind }: Pick<ChangeRecord, 'kind'>, value: number): string =>
  kind === 'tag_failures' ? percent(value) : whole(value)

/** "−50 %", "+12 points", "new" */
export function differenceWords({ kind, now, before }: Pick<ChangeRecord, 'kind' | 'now' | 'before'>): string {
  const sign = now < before ? '−' : '+'
  if (kind === 'tag_failures') return `${sign}${points(Math.abs(now - before))}`
  if (before === 0) return 'new'
  return `${sign}${percent(Math.abs(now / before - 1))}`
}

/** The usual variation from week to week: "±8 %", "±1.2 points". */
export const usualWords = ({ kind, usual, expected }: Pick<ChangeRecord, 'kind' | 'usual' | 'expected'>): string =>
  kind === 'tag_failures' ? `±${points(usual)}` : expected <= 0 ? '' : `±${percent(usual / expected)}`

const points = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0).replace(/\.0$/, '')} points`

/** Whether a change is for the worse: fewer events, more failures. More of something is only news. */
export const isWorse = ({ kind, deviations }: Pick<ChangeRecord, 'kind' | 'deviations'>): boolean =>
  kind === 'tag_failures' ? deviations > 0 : deviations < 0
