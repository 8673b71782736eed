import { Select } from '@mantine/core'
import { useMemo } from 'react'
import type { Directory } from '../lib/use-directory.ts'
import { useSetUrlState } from '../lib/use-url-state.ts'
import { clearButton } from './clear-button.ts'

interface Props {
  directory: Directory
  client: string
  site: string
  className?: string | undefined
}

/** Maximum number of options shown; typing finds the others. */
const SHOWN = 100

/** Chooses a client or one of its sites; both are kept in the page's address. */
export function SiteSelect({ directory, client, site, className }: Props) {
  const set = useSetUrlState()
  const data = useMemo(() => optionsOf(directory), [directory])
  const value = site !== '' ? `site:${site}` : client !== '' ? `client:${client}` : null
  // The address may name something deleted or paused, which must not be shown as "all".
  const isKnown = value === null || (site === '' ? directory.clients[client] : directory.sites[site]) !== undefined
  return (
    <Select
      className={className}
      aria-label="Client or site"
      placeholder="All clients and sites"
      data={isKnown || data.length === 0 ? data : [...data, { value, label: 'Unknown, or paused' }]}
      value={value}
      onChange={(chosen) => {
        const [kind = '', id = ''] = chosen?.split(':') ?? []
        set({ client: kind === 'client' ? id : undefined, site: kind === 'site' ? id : undefined })
      }}
      searchable
      clearable
      clearButtonProps={clearButton('All clients and sites')}
      limit={SHOWN}
      nothingFoundMessage="No such client or site"
    />
  )
}

function optionsOf({ clients, sites }: Directory) {
  const all = Object.values(sites)
  return Object.values(clients).map(({ id, name }) => ({
    group: name,
    items: [
      { value: `client:${id}`, label: `${name}, all sites` },
      ...all.filter((site) => site.client_id === id).map((site) => ({ value: `site:${site.id}`, label: site.name })),
    ],
  }))
}
