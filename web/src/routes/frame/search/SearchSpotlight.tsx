import '@mantine/spotlight/styles.layer.css'
import { createSpotlight, Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Building2, Search } from 'lucide-react'
import { useEffect } from 'react'
import { type Overview, overviewQuery } from '../../../api/overview.ts'
import { StatusMark } from '../../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../../ui/status/status.ts'
import { useNavPages } from '../Rail.tsx'
import classes from './search.module.css'

const [store, actions] = createSpotlight()

/** Finds clients, sites and pages by name. `asked` grows each time it is to open. */
export function SearchSpotlight({ asked }: { asked: number }) {
  useEffect(() => {
    if (asked > 0) actions.open()
  }, [asked])
  return (
    <Spotlight
      store={store}
      actions={useGroups()}
      shortcut={null}
      limit={12}
      scrollable
      maxHeight="60vh"
      classNames={{ action: classes.action ?? '', actionDescription: classes.description ?? '' }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      nothingFound="Nothing has this name"
      transitionProps={{ duration: 0 }}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Clients, sites, pages',
        'aria-label': 'Search clients, sites and pages',
      }}
    />
  )
}

function useGroups(): SpotlightActionGroupData[] {
  const navigate = useNavigate()
  const { data } = useQuery(overviewQuery)
  const show = (to: string, search = {}) => void navigate({ to, search })
  return [
    {
      group: 'Sites',
      actions: siteActions(data, (siteId) => void navigate({ to: '/sites/$siteId', params: { siteId } })),
    },
    { group: 'Clients', actions: clientActions(data, (name) => show('/overview', { q: name })) },
    {
      group: 'Pages',
      actions: useNavPages().map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon size={18} aria-hidden />,
        onClick: () => show(to),
      })),
    },
  ]
}

function siteActions(overview: Overview | undefined, open: (siteId: string) => void): SpotlightActionData[] {
  return (overview?.clients ?? []).flatMap((client) =>
    client.sites.map((site) => ({
      id: site.id,
      label: site.name,
      description: client.name,
      keywords: [site.url, client.name],
      leftSection: <StatusMark status={site.status} size={14} label={STATUS_WORDS[site.status]} />,
      onClick: () => open(site.id),
    })),
  )
}

function clientActions(overview: Overview | undefined, open: (name: string) => void): SpotlightActionData[] {
  return (overview?.clients ?? []).map((client) => ({
    id: client.id,
    label: client.name,
    leftSection: <Building2 size={18} aria-hidden />,
    onClick: () => open(client.name),
  }))
}
