import type { SharedSite, StatusPage } from '../../api/status.ts'
import { dateFormat } from '../../lib/words.ts'
import { NO_EVENT_LATELY, NOTHING_TO_JUDGE } from '../../ui/status/status.ts'

/**
 * The sentence at the top of a status page: what is wrong, on how many sites, and since when.
 *
 * @param now epoch ms
 * @param zone by default the reader's own
 */
export function sentence({ status, sites }: Pick<StatusPage, 'status' | 'sites'>, now: number, zone?: string): string {
  const concerned = sites.filter((site) => site.status === status)
  const since = earliest(concerned)
  const isAll = concerned.length === sites.length
  const isOne = concerned.length === 1
  const has = isOne ? 'has' : 'have'
  const which = sites.length === 1 ? 'The site' : `${concerned.length} of ${sites.length} sites`
  const at = since === null ? null : `since ${moment(since, now, zone)}`
  switch (status) {
    case 'critical':
      return at === null ? `${which} ${isOne ? 'is' : 'are'} broken` : `${which} ${has} been broken ${at}`
    case 'error':
      return at === null ? `${which} cannot be checked` : `${which} could not be checked ${at}`
    case 'warning':
      return at === null ? `${which} ${isOne ? 'needs' : 'need'} a look` : `${which} ${has} needed a look ${at}`
    case 'ok':
      if (!sites.every(({ alerts }) => alerts.length === 0)) return 'Recovering, not confirmed yet'
      return isAll ? 'All fine' : [`${concerned.length} healthy`, ...unknownInWords(sites)].join(' · ')
    case 'unknown':
      if (sites.length === 0) return 'No site is watched yet'
      if (sites.some(isHidden)) return unknownInWords(sites).join(' · ')
      return sites.every(isWaiting) ? 'Waiting for a first event' : 'Waiting for the first results'
  }
}

/** Whether announced maintenance hides the site's status. */
const isHidden = ({ status, maintenance_until }: Pick<SharedSite, 'status' | 'maintenance_until'>): boolean =>
  status === 'unknown' && maintenance_until !== null

const isWaiting = (site: SharedSite): boolean =>
  site.status === 'unknown' && !isHidden(site) && site.last_event_at === null

/** As on the overview: sites under maintenance, those that never sent anything, and those not judged yet. */
function unknownInWords(sites: readonly SharedSite[]): string[] {
  const unknown = sites.filter(({ status }) => status === 'unknown')
  const hidden = unknown.filter(isHidden).length
  const waiting = unknown.filter(isWaiting).length
  const rest = unknown.length - hidden - waiting
  return [
    ...(hidden === 0 ? [] : [`${hidden} under maintenance`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting for a first event`]),
    ...(rest === 0 ? [] : [`${rest} not judged yet`]),
  ]
}

function earliest(sites: readonly SharedSite[]): number | null {
  const times = sites.flatMap(({ since }) => (since === null ? [] : [Date.parse(since)]))
  return times.length === 0 ? null : Math.min(...times)
}

/** The statuses in words for people who do not run Tagwarden. */
const WORDS: Readonly<Record<SharedSite['status'], string>> = {
  critical: 'broken',
  error: 'cannot be checked',
  warning: 'needs a look',
  ok: 'fine',
  unknown: 'not judged yet',
}

/** The text beside a site's mark: "broken since 09:42". */
export function stateWords(
  { status, reason, since, maintenance_until, last_event_at, sparkline }: Omit<SharedSite, 'name' | 'alerts'>,
  now: number,
  zone?: string,
): string {
  if (maintenance_until !== null && isHidden({ status, maintenance_until }))
    return `under maintenance until ${moment(Date.parse(maintenance_until), now, zone)}`
  if (reason === 'learning') return 'learning'
  if (reason === 'no_data') {
    if (last_event_at === null) return 'no data yet'
    return sparkline.every((events) => events === 0) ? NO_EVENT_LATELY : NOTHING_TO_JUDGE
  }
  return since === null ? WORDS[status] : `${WORDS[status]} since ${moment(Date.parse(since), now, zone)}`
}

/** "09:42" for today, "20 Nov, 09:42" for another day. */
export function moment(at: number, now: number, zone?: string): string {
  const day = dateFormat(zone, { day: 'numeric', month: 'short', year: 'numeric' })
  const time = dateFormat(zone, { hour: '2-digit', minute: '2-digit' }).format(at)
  if (day.format(at) === day.format(now)) return time
  return `${day.format(at).replace(/ \d{4}$/, '')}, ${time}`
}
