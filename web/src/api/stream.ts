import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { StreamEvents } from '../../../src/dashboard/index.ts'
import { external } from '../lib/external.ts'
import { type Overview, overviewQuery } from './overview.ts'

export type { StreamEvents } from '../../../src/dashboard/index.ts'

/** Whether changes arrive as they happen. `closed` before the first connection and where nobody is signed in. */
export type StreamState = 'closed' | 'open' | 'broken'

const state = external<StreamState>('closed')
export const useStreamState = state.use

/** Counts move with every message; all figures are asked for anew at most this often, ms. */
const REFRESH_MS = 5_000
/** … and not before this many times as long as the last answer took: over a thousand sites it is work for the service. */
const REST = 20

type Listener<K extends keyof StreamEvents> = (message: StreamEvents[K]) => void
const listeners: { [K in keyof StreamEvents]: Set<Listener<K>> } = {
  ingest: new Set(),
  status: new Set(),
  alerts: new Set(),
}

/** Calls `listener` with each message of one kind while the component is shown. */
export function useStreamEvent<K extends keyof StreamEvents>(kind: K, listener: Listener<K>): void {
  useEffect(() => {
    listeners[kind].add(listener)
    return () => {
      listeners[kind].delete(listener)
    }
  }, [kind, listener])
}

/** Keeps the one connection to `/api/stream` open; the frame calls it. */
export function useStream(): void {
  const client = useQueryClient()
  useEffect(() => {
    const source = new EventSource('/api/stream')
    const refresh = throttled(() => client.invalidateQueries({ queryKey: overviewQuery.queryKey }))
    const hear = <K extends keyof StreamEvents>(kind: K, apply: Listener<K>) =>
      source.addEventListener(kind, (event) => {
        const message = JSON.parse(event.data) as StreamEvents[K]
        apply(message)
        for (const listener of listeners[kind]) listener(message)
      })
    hear('ingest', (message) => {
      noteLastEvents(client, message)
      refresh.soon()
    })
    hear('status', () => refresh.now())
    hear('alerts', () => refresh.now())
    source.addEventListener('open', () => {
      // What happened while there was no connection was told to nobody.
      if (state.get() === 'broken') refresh.now()
      state.set('open')
    })
    source.addEventListener('error', () => state.set('broken'))
    return () => {
      refresh.cancel()
      source.close()
      state.set('closed')
    }
  }, [client])
}

function noteLastEvents(client: QueryClient, { sites }: StreamEvents['ingest']): void {
  const times = new Map(sites.map((site) => [site.id, site.last_event_at]))
  client.setQueryData(overviewQuery.queryKey, (overview: Overview | undefined) =>
    overview === undefined ? undefined : withLastEvents(overview, times),
  )
}

/** Clients without a change stay the same objects, so that their rows are not drawn again. */
function withLastEvents(overview: Overview, times: ReadonlyMap<string, string>): Overview {
  const clients = overview.clients.map((client) =>
    client.sites.some((site) => times.has(site.id))
      ? {
          ...client,
          sites: client.sites.map((site) => {
            const last_event_at = times.get(site.id)
            return last_event_at === undefined ? site : { ...site, last_event_at }
          }),
        }
      : client,
  )
  return { ...overview, clients }
}

function throttled(act: () => Promise<void>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let rest = REFRESH_MS
  const cancel = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const run = async () => {
    cancel()
    const began = performance.now()
    await act()
    rest = Math.max(REFRESH_MS, REST * (performance.now() - began))
  }
  return {
    cancel,
    now: () => void run(),
    soon() {
      timer ??= setTimeout(() => void run(), rest)
    },
  }
}
