import '@mantine/core/styles/Mark.layer.css'
import '@mantine/spotlight/styles.layer.css'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Building2, Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type Overview, overviewQuery } from '../../../api/overview.ts'
import { StatusMark } from '../../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../../ui/status/status.ts'
import { useNavPages } from '../Rail.tsx'
import { useFound } from './found.ts'
import classes from './search.module.css'

const [store, actions] = createSpotlight()

/** Debounce while typing, ms. */
const PAUSE_MS = 150

/** Finds clients, sites, pages and named things on sites. `asked` grows with each opening. */
export function SearchSpotlight({ asked }: { asked: number }) {
  const [text, setText] = useState('')
  const [sought] = useDebouncedValue(text, PAUSE_MS)
  const groups = [...useGroups(), ...useFound(sought)]
  useEffect(() => {
    if (asked > 0) actions.open()
  }, [asked])
  return (
    <Spotlight
      store={store}
      query={text}
      onQueryChange={setText}
      actions={groups}
      shortcut={null}
      limit={40}
      scrollable
      maxHeight="60vh"
      classNames={{ action: classes.action ?? '', actionDescription: classes.description ?? '' }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      nothingFound="No match among clients, sites, pages, open incidents and alerts, tags, events, versions and annotations"
      transitionProps={{ duration: 0 }}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Clients, sites, tags, events, incidents …',
        'aria-label': 'Search clients, sites, pages, tags, events, incidents, versions and notes',
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
