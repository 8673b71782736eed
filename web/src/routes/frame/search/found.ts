import type { SpotlightActionGroupData } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type Found, type FoundKind, searchQuery } from '../../../api/search.ts'
import { useDirectory } from '../../../lib/use-directory.ts'
import { counted } from '../../../lib/words.ts'

const GROUPS: readonly [kind: FoundKind, title: string][] = [
  ['incident', 'Open incidents'],
  ['alert', 'Open alerts'],
  ['tag', 'Tags'],
  ['event', 'Events'],
  ['version', 'Versions'],
  ['annotation', 'Annotations'],
]

/** Time shown before and after a found moment, ms. */
const AROUND_MS = 6 * 3_600_000

/** The service's search results, in groups. */
export function useFound(text: string): SpotlightActionGroupData[] {
  const { data } = useQuery(searchQuery(text))
  const { sites } = useDirectory()
  const navigate = useNavigate()
  const open = (found: Found) => {
    if (found.kind === 'incident') {
      void navigate({ to: '/incidents/$incidentId', params: { incidentId: found.id ?? '' } })
    } else if (found.kind === 'alert') {
      void navigate({ to: '/alerts/$alertId', params: { alertId: found.id ?? '' } })
    } else if (found.site_id === null) void navigate({ to: '/overview' })
    else {
      const search = siteSearch(found)
      void navigate({ to: '/sites/$siteId', params: { siteId: found.site_id }, search: search as object })
    }
  }
  if (text.trim() === '') return []
  return GROUPS.flatMap(([kind, title]): SpotlightActionGroupData[] => {
    const ofKind = (data?.results ?? []).filter((found) => found.kind === kind)
    if (ofKind.length === 0) return []
    const actions = ofKind.map((found) => ({
      id: `${kind} ${found.id ?? ''} ${found.site_id ?? ''} ${found.label}`,
      label: found.label,
      description: whereWords(found, sites[found.site_id ?? '']?.name),
      // The service matches more than the label, so keep the list from filtering again.
      keywords: text,
      onClick: () => open(found),
    }))
    return [{ group: title, actions }]
  })
}

/** The search parameters with which its site's page shows it. */
function siteSearch({ kind, label, at }: Pick<Found, 'kind' | 'label' | 'at'>): Record<string, string> {
  if (kind === 'tag') return { tag: label }
  if (kind === 'event') return { event: label }
  if (at === null) return {}
  const [from, to] = [-AROUND_MS, AROUND_MS].map((shift) => new Date(Date.parse(at) + shift).toISOString())
  return { from: from ?? '', to: to ?? '' }
}

/** "3 sites", or the site's name. */
export const whereWords = ({ sites }: Pick<Found, 'sites'>, site: string | undefined): string =>
  sites > 1 ? counted(sites, 'site') : (site ?? '')
