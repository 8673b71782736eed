import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Overview, overviewQuery } from '../api/overview.ts'

/** The names of a site, for other pages. */
export interface DirectorySite {
  id: string
  name: string
  /** IANA name */
  timezone: string
  client_id: string
  client_name: string
  probes: readonly { id: string; name: string }[]
}

/** The active clients, sites and probes, by id. */
export interface Directory {
  clients: Readonly<Record<string, { id: string; name: string }>>
  sites: Readonly<Record<string, DirectorySite>>
  /** The site of each probe. */
  siteOfProbe: Readonly<Record<string, string>>
  /** Shown instead of the name of a site that is not among them. */
  noSite: string
}

/** Before the overview is loaded, it is unknown why a site has no name. */
const EMPTY: Directory = { clients: {}, sites: {}, siteOfProbe: {}, noSite: 'a site' }

/** Names by id; empty until the overview is loaded. */
export function useDirectory(): Directory {
  return useQuery({ ...overviewQuery, select: directoryOf }).data ?? EMPTY
}

/** Maximum wait, ms: after that, a page that moves under its reader is better than none. */
const LONGEST_WAIT_MS = 5_000

/** Whether a page still waits for a query's first answer. Ends with an answer, a failure or `LONGEST_WAIT_MS`, and never restarts. */
export function useIsAwaited({ isFetched, failureCount }: UseQueryResult): boolean {
  const isOnItsWay = !isFetched && failureCount === 0
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isOnItsWay) return
    const timer = setTimeout(() => setLate(true), LONGEST_WAIT_MS)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [isOnItsWay])
  return isOnItsWay && !isLate
}

/** Whether names are still loading: text shown before, such as times in another zone, would change under the reader. */
export function useIsDirectoryAwaited(): boolean {
  return useIsAwaited(useQuery(overviewQuery))
}

/** Returns plain objects, so that the query keeps equal ones identical and changing counts rerender nothing. */
function directoryOf({ clients }: Overview): Directory {
  const sites = clients.flatMap((client) =>
    client.sites.map(({ id, name, timezone, probes }) => ({
      id,
      name,
      timezone,
      client_id: client.id,
      client_name: client.name,
      probes: probes.map((probe) => ({ id: probe.id, name: probe.name })),
    })),
  )
  return {
    clients: Object.fromEntries(clients.map(({ id, name }) => [id, { id, name }])),
    sites: Object.fromEntries(sites.map((site) => [site.id, site])),
    siteOfProbe: Object.fromEntries(sites.flatMap(({ id, probes }) => probes.map((probe) => [probe.id, id]))),
    noSite: 'a paused site',
  }
}
