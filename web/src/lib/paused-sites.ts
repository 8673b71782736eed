import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type ClientRecord, clientsQuery } from '../api/clients.ts'
import { type SiteRecord, sitesQuery } from '../api/sites.ts'
import { type Directory, type DirectorySite, isKnown, useDirectory } from './use-directory.ts'

/**
 * The directory with those of these sites that are paused, or whose client is, by names that say so. They are loaded only when there are any.
 *
 * @param siteIds null: of no single site
 */
export function useDirectoryWith(siteIds: readonly (string | null)[]): Directory {
  const directory = useDirectory()
  const isMissing = isKnown(directory) && siteIds.some((id) => id !== null && directory.sites[id] === undefined)
  const { data: sites } = useQuery({ ...sitesQuery(), enabled: isMissing })
  const { data: clients } = useQuery({ ...clientsQuery, enabled: isMissing })
  return useMemo(
    () =>
      isMissing && sites !== undefined && clients !== undefined ? withPaused(directory, sites, clients) : directory,
    [isMissing, directory, sites, clients],
  )
}

/** Adds the sites that the directory leaves out. */
export function withPaused(
  directory: Directory,
  sites: readonly Pick<SiteRecord, 'id' | 'name' | 'timezone' | 'client_id'>[],
  clients: readonly Pick<ClientRecord, 'id' | 'name'>[],
): Directory {
  const names = new Map(clients.map(({ id, name }) => [id, name]))
  const paused = sites
    .filter(({ id }) => directory.sites[id] === undefined)
    .map(({ id, name, timezone, client_id }): DirectorySite => {
      const client_name = names.get(client_id) ?? ''
      return { id, name: `${name} (paused)`, timezone, client_id, client_name, probes: [] }
    })
  return { ...directory, sites: { ...directory.sites, ...Object.fromEntries(paused.map((site) => [site.id, site])) } }
}
