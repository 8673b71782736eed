import { replaceEqualDeep, type UseQueryResult, useQuery } from '@tanstack/react-query'
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

/** Whether the overview is loaded: before that, no one knows which sites are paused. */
export const isKnown = (directory: Directory): boolean => directory !== EMPTY

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

/** What the kept directory was made of. */
let known: readonly unknown[] | undefined
let kept = EMPTY

/**
 * The directory of an overview. Of a thousand sites it takes 20 ms, for each part of a page that needs names, and every two seconds a
 * message changes when sites last sent something. So one is kept until something else of it changes.
 */
export function directoryOf({ clients }: Overview): Directory {
  const parts = clients.flatMap(({ id, name, sites }) => [
    id,
    name,
    ...sites.flatMap((site) => [site.id, site.name, site.timezone, site.probes]),
  ])
  if (parts.length !== known?.length || parts.some((part, index) => part !== known?.[index])) {
    known = parts
    // Equal parts stay the same objects, so that changing counts rerender nothing.
    kept = replaceEqualDeep(kept, namesOf(clients))
  }
  return kept
}

function namesOf(clients: Overview['clients']): Directory {
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
