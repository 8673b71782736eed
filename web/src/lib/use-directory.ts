import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Overview, overviewQuery } from '../api/overview.ts'

/** A site as other pages name it. */
export interface DirectorySite {
  id: string
  name: string
  /** IANA name */
  timezone: string
  client_id: string
  client_name: string
  probes: readonly { id: string; name: string }[]
}

/** The active clients, sites and probes, by their ids. What is switched off is not among them. */
export interface Directory {
  clients: Readonly<Record<string, { id: string; name: string }>>
  sites: Readonly<Record<string, DirectorySite>>
  /** The site of each probe. */
  siteOfProbe: Readonly<Record<string, string>>
  /** What stands for the name of a site that is not among them. */
  noSite: string
}

/** Why a site has no name yet, no one knows. */
const EMPTY: Directory = { clients: {}, sites: {}, siteOfProbe: {}, noSite: 'a site' }

/** Names for ids; nothing before the overview has come. */
export function useDirectory(): Directory {
  return useQuery({ ...overviewQuery, select: directoryOf }).data ?? EMPTY
}

/** A page that moves under its reader is better than none, ms. */
const LONGEST_WAIT_MS = 5_000

/** Whether a page still waits for a first answer. It does so once, and not for long: after a failure it never goes away again. */
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

/** Whether names may still come: what is said before, such as times in another zone, would change under the reader. */
export function useIsDirectoryAwaited(): boolean {
  return useIsAwaited(useQuery(overviewQuery))
}

/** Plain objects: equal ones stay the same ones, so that counts that move draw nothing again. */
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
