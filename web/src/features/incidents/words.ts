import type { IncidentDetail, IncidentSummary } from '../../api/incidents.ts'
import type { Status } from '../../api/overview.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { counted, personName } from '../../lib/words.ts'

/** The cause of an incident, in a word or two. */
export const CAUSE_WORDS: Readonly<Record<IncidentSummary['cause'], string>> = {
  own: 'our own check',
  server: 'tag server',
  release: 'new version',
  consent: 'consent platform',
  silence: 'silence',
  event: 'event',
  tag: 'tag',
  quality: 'data quality',
  other: 'other',
}

/** Where to look first: "cause: tag server", or "cause: Meta" for a vendor's tags on many sites; null when unknown. */
export const causeWords = ({ cause, vendor }: Pick<IncidentSummary, 'cause' | 'vendor'>): string | null =>
  vendor === null && cause === 'other' ? null : `cause: ${vendor ?? CAUSE_WORDS[cause]}`

/** The status mark of an incident. One about our own checks says nothing about the site, so it is marked as an error. */
export const markOf = ({ cause, severity }: Pick<IncidentDetail, 'cause' | 'severity'>): Status =>
  cause === 'own' ? 'error' : severity

/** Number of names that fit into one line. */
const NAMES_MOST = 3

/**
 * Where it is: "Feldkamp Outdoor · Nordlicht Digital", "5 sites: Feldkamp Outdoor, Saffron Threads …"; null where only the number of
 * sites is known, which the title of a vendor's incident has.
 *
 * @param parts the known incidents of sites that a vendor's incident explains
 */
export function whereWords(
  { scope, site_id, site_count }: Pick<IncidentSummary, 'scope' | 'site_id' | 'site_count'>,
  parts: readonly Pick<IncidentSummary, 'site_id'>[],
  { sites, noSite }: Directory,
): string | null {
  if (scope === 'site') {
    const site = sites[site_id ?? '']
    return site === undefined ? noSite : `${site.name} · ${site.client_name}`
  }
  const names = [...new Set(parts.flatMap((part) => sites[part.site_id ?? '']?.name ?? []))]
  if (names.length === 0) return site_count === 0 ? 'deleted sites' : null
  const count = counted(site_count, 'site')
  const shown = names.slice(0, NAMES_MOST).join(', ')
  return names.length > NAMES_MOST || site_count > names.length ? `${count}: ${shown} …` : `${count}: ${shown}`
}

export const acknowledgedWords = ({ acknowledged_by }: Pick<IncidentSummary, 'acknowledged_by'>): string | null =>
  acknowledged_by === null ? null : `acknowledged by ${personName(acknowledged_by)}`

/** What is known, in one line. */
export const joined = (parts: readonly (string | null)[]): string => parts.filter((part) => part !== null).join(' · ')
