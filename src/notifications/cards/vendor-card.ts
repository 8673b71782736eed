import { capitalised } from '../../lib/index.ts'
import type { Fact, VendorMessage } from '../message.ts'
import {
  type Card,
  type CardOptions,
  cut,
  defanged,
  fact,
  LINE_MAX,
  LocalTimes,
  lengthInWords,
  name,
  oneLine,
  sinceTail,
  sinceWhen,
} from './card.ts'

/** Makes the card of a vendor's incident on several clients' sites, whom it may name, as it is for the operator only. */
export function vendorCard(
  { kind, incident, vendor, isOwn = false, isFall = false, sites, ...counted }: VendorMessage,
  { publicUrl, at }: CardOptions,
): Card {
  const isOver = kind === 'vendor_resolved'
  const times = new LocalTimes('UTC')
  const since = sinceWhen(times, incident.started_at, at)
  const clients = counted.clients ?? new Set(sites.map(({ client }) => client)).size
  const end = incident.resolved_at ?? at
  const lasted = `${times.span(incident.started_at, end, at)} (${lengthInWords(end - incident.started_at)})`
  const facts: Fact[] = [
    isOver ? { name: 'Lasted', value: lasted } : { name: 'Since', value: since },
    ...(typeof incident.impact?.text === 'string' ? [fact(isOver ? 'Lost' : 'Lost so far', incident.impact.text)] : []),
    // All sites may have been deleted by its end.
    ...(clients === 0 ? [] : [{ name: 'Clients', value: String(clients) }]),
  ]
  return {
    tone: isOver ? 'ok' : incident.severity,
    heading: `[${isOver ? 'RESOLVED' : incident.severity.toUpperCase()}] ${name(vendor)}${sites.length === 0 ? '' : ` — ${sites.length} sites`}`,
    what: capitalised(cut(defanged(oneLine(incident.title)), LINE_MAX)) || '?',
    tail: isOver ? null : sinceTail(since),
    paragraphs: isOver
      ? []
      : [isFall ? explanationOfFall(name(vendor), clients) : explanationOf(name(vendor), isOwn, clients === 1)],
    facts,
    change: null,
    lines: sites.map(({ client, site, since: from }) => ({
      tone: isOver ? ('ok' as const) : incident.severity,
      text: cut(`${name(client)} · ${name(site)} since ${times.moment(from, at)}`, LINE_MAX),
    })),
    footer: null,
    link: { label: 'Open the incident', url: `${publicUrl}/incidents/${encodeURIComponent(incident.id)}` },
    thread: incident.id,
  }
}

/** Where too few clients are affected their own messages are not held back, see `holdsOf`. */
function explanationOfFall(vendor: string, clients: number): string {
  if (clients === 1)
    return `All of these sites belong to one client: ${vendor}, its network, or something that they share, such as a release. The client is notified about each of them.`
  const then =
    clients < 3
      ? 'Each client is notified about its own sites, and that others are affected too.'
      : 'Messages to the clients wait up to an hour, and are not sent where events return before.'
  return `So many sites do not lose events at once by chance: look at ${vendor}'s endpoint and its network first. ${then}`
}

/** Sites of one client share releases and credentials, so what fails on them alone may be no fault of the vendor. */
function explanationOf(vendor: string, isOwn: boolean, isOneClient: boolean): string {
  const why = isOwn
    ? 'All of these checks need the same Google credentials: the sites themselves may be fine.'
    : isOneClient
      ? `All of these sites belong to one client: ${vendor} fails, or something that they share, such as a release.`
      : `So many sites do not fail at once by chance: it is probably ${vendor}.`
  return isOneClient
    ? `${why} The client is notified about each of them.`
    : `${why} Each client is notified about its own sites, and that others are affected too.`
}
