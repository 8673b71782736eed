import type { ClientState, Overview, Status } from '../../api/overview.ts'
import { counted } from '../../lib/words.ts'
import { byTrouble, type Headline, headlineOf, isHealthy } from '../overview/site-list.ts'

/** Number of lines that fit below the verdict, on a screen of any size. */
export const LINES = 7
/** The same when trouble takes its own line below the name, so that it is not cut. */
export const TROUBLE_LINES = 5

/** One slide of the wall: a client with trouble, or clients that are fine. */
export interface Slide {
  key: string
  title: string
  status: Status
  /** What is not listed ("and 3 more sites are fine"), or which part of a long list this is. */
  note: string | null
  lines: readonly SlideLine[]
}

export interface SlideLine extends Headline {
  key: string
  name: string
}

/** The slides in order: clients in trouble, worst first, then those that are fine. */
export function slidesOf({ clients }: Pick<Overview, 'clients'>): Slide[] {
  const withSites = clients.filter(({ sites }) => sites.length > 0).toSorted(byTrouble)
  const fine = withSites.filter(isHealthy)
  return [...withSites.filter((client) => !isHealthy(client)).flatMap(troubleSlides), ...fineSlides(fine)]
}

function troubleSlides(client: ClientState): Slide[] {
  const sites = client.sites.filter(({ status, open_alerts }) => status !== 'ok' || open_alerts > 0).toSorted(byTrouble)
  const fine = client.sites.length - sites.length
  const lines = sites.map((site) => ({ key: site.id, name: site.name, ...headlineOf(site) }))
  const rest = fine === 0 ? null : `and ${counted(fine, 'more site')} ${fine === 1 ? 'is' : 'are'} fine`
  return inParts(lines, TROUBLE_LINES).map((part, index, parts) => ({
    key: `${client.id} ${index}`,
    title: client.name,
    status: client.status,
    note: joined(partWords(index, parts.length), index === parts.length - 1 ? rest : null),
    lines: part,
  }))
}

function fineSlides(clients: readonly ClientState[]): Slide[] {
  const lines = clients.map(({ id, name, status, sites }) => ({
    key: id,
    name,
    status,
    text: sites.length === 1 ? '1 site, fine' : `${sites.length} sites, all fine`,
    since: null,
    isAcknowledged: false,
  }))
  return inParts(lines, LINES).map((part, index, parts) => ({
    key: `fine ${index}`,
    title: 'Clients without problems',
    status: 'ok',
    note: partWords(index, parts.length),
    lines: part,
  }))
}

const inParts = <T>(lines: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(lines.length / size) }, (_, part) => lines.slice(part * size, (part + 1) * size))

const partWords = (index: number, parts: number): string | null => (parts < 2 ? null : `part ${index + 1} of ${parts}`)

const joined = (...parts: readonly (string | null)[]): string | null =>
  parts.filter((part) => part !== null).join(' · ') || null

const SECONDS = 15
const SECONDS_LEAST = 5
const SECONDS_MOST = 600

/** Duration of a slide, ms. @param seconds from the page's address; 15 unless a number from 5 to 600 */
export function slideMs(seconds: string): number {
  const given = Number(seconds)
  const isUsable = seconds !== '' && given >= SECONDS_LEAST && given <= SECONDS_MOST
  return (isUsable ? given : SECONDS) * 1_000
}

/** Age from which data counts as stale, ms: answers come at least every minute, and three missing ones are no accident. */
const STALE_MS = 3 * 60_000

export interface Freshness {
  /** When the data was read, epoch ms, if it is too old to trust; else null. */
  staleSince: number | null
}

interface Known {
  /** When the connection was lost, epoch ms; null while there is one. */
  cutOff: number | null
  /** Time of the last answer, epoch ms; 0 before the first. */
  readAt: number
  now: number
}

/** Whether the data is current, which people assume of a screen on a wall. */
export function freshnessOf({ cutOff, readAt, now }: Known): Freshness {
  if (readAt === 0) return { staleSince: null }
  const isStale = cutOff !== null || now - readAt > STALE_MS
  return { staleSince: isStale ? readAt : null }
}
