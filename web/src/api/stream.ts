export type { StreamEvents } from '../../../src/dashboard/index.ts'

import { useNetwork } from '@mantine/hooks'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { StreamEvents } from '../../../src/dashboard/index.ts'
import { external } from '../lib/external.ts'
import { type Overview, overviewQuery } from './overview.ts'
import { sessionQuery } from './session.ts'

/** State of the stream: `closed` before the first message and without a session, `resting` in a background tab. */
type StreamState = 'closed' | 'open' | 'broken' | 'resting'

const state = external<StreamState>('closed')
export const useStreamState = state.use

/** Minimum time between two refetches of all figures, because every message changes counts, ms. */
const REFRESH_MS = 5_000
/** … and at least this many times the duration of the last answer, because over a thousand sites it is work for the service. */
const REST = 20
/**
 * Silence after which the connection counts as dead, ms. A message comes every 25 s. The browser may not notice: a service that hangs
 * or a change of network closes no connection.
 */
const SILENT_MS = 60_000

type Listener<K extends keyof StreamEvents> = (message: StreamEvents[K]) => void
const listeners: { [K in keyof StreamEvents]: Set<Listener<K>> } = {
  alive: new Set(),
  ingest: new Set(),
  status: new Set(),
  alerts: new Set(),
}

const KINDS = Object.keys(listeners) as (keyof StreamEvents)[]

/** Calls `listener` with each message of one kind while the component is shown. */
export function useStreamEvent<K extends keyof StreamEvents>(kind: K, listener: Listener<K>): void {
  useEffect(() => {
    listeners[kind].add(listener)
    return () => {
      listeners[kind].delete(listener)
    }
  }, [kind, listener])
}

/** Keeps this tab up to date while `isOn`. Called once, by the frame. Without a role the stream is refused, which would look like a lost connection. */
export function useStream(isOn = true): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!isOn) return undefined
    const refresh = throttled(() => client.invalidateQueries({ queryKey: overviewQuery.queryKey }))
    const hear = ([kind, message]: Said) => {
      // Listeners missed what happened without a connection, so refetch.
      if (state.get() === 'broken' || state.get() === 'resting') refresh.now()
      state.set('open')
      if (kind === 'ingest') {
        noteLastEvents(client, message)
        refresh.soon()
      } else if (kind !== 'alive') refresh.next()
      for (const listener of listeners[kind] as ReadonlySet<(message: unknown) => void>) listener(message)
    }
    const stop = amongTabs(hear, () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey }))
    return () => {
      refresh.cancel()
      stop()
      state.set('closed')
    }
  }, [client, isOn])
}

/** A message of the stream. */
type Said = { [K in keyof StreamEvents]: [kind: K, message: StreamEvents[K]] }[keyof StreamEvents]
type Hear = (said: Said) => void

/** What a tab with a stream tells the others. */
interface Passed {
  /** When it opened the stream. */
  since: number
  /** Undefined when it has lost the connection or is closing. */
  said: Said | undefined
}

/**
 * Shares one stream between tabs. Without HTTP/2 a browser has six connections to a host, for all its windows together: with a stream in
 * each of six tabs no other call would get through. So the tab that was visible last has the stream and passes its messages on to visible
 * tabs; a background tab without one rests until it becomes visible. When two tabs have a stream, the older one closes at the other's
 * first message, so that nothing is lost between them. (Web Locks would need TLS.)
 */
function amongTabs(hear: Hear, refused: () => void): () => void {
  const tabs = new BroadcastChannel('tagwarden-stream')
  let close: (() => void) | undefined
  let since = 0
  let silence: ReturnType<typeof setTimeout> | undefined
  const pass = (said: Said | undefined) => tabs.postMessage({ since, said } satisfies Passed)
  const lead = () => {
    clearTimeout(silence)
    if (document.hidden || close !== undefined) return
    // Later than any other tab's; the random part decides between two at the same moment.
    since = Date.now() + Math.random()
    const passOn: Hear = (said) => {
      pass(said)
      hear(said)
    }
    close = keepOpen(passOn, () => pass(undefined), refused)
  }
  const letGo = () => {
    close?.()
    close = undefined
  }
  tabs.onmessage = ({ data: { since: other, said } }: MessageEvent<Passed>) => {
    if (close !== undefined && (other < since || said === undefined)) return
    letGo()
    clearTimeout(silence)
    if (document.hidden || said === undefined) {
      state.set('resting')
      lead()
      return
    }
    silence = setTimeout(lead, SILENT_MS)
    hear(said)
  }
  const leave = () => {
    if (close !== undefined) pass(undefined)
  }
  document.addEventListener('visibilitychange', lead)
  window.addEventListener('pagehide', leave)
  lead()
  return () => {
    document.removeEventListener('visibilitychange', lead)
    window.removeEventListener('pagehide', leave)
    clearTimeout(silence)
    leave()
    tabs.close()
    letGo()
  }
}

/**
 * Keeps a stream open. A browser reopens a lost connection, but gives up for good when the answer is not a stream: 429 with too many
 * streams, 503 while the service or its proxy restarts. And it keeps a silent connection forever.
 *
 * @param hear receives every message
 * @param lose called when the connection is lost
 * @param refused called when the answer is not a stream, as for someone who has lost the last role: the browser hides its status
 */
function keepOpen(hear: Hear, lose: () => void, refused: () => void): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let refusals = 0
  const open = () => {
    const opened = new EventSource('/api/stream')
    const watch = () => {
      clearTimeout(silence)
      silence = setTimeout(() => {
        opened.close()
        state.set('broken')
        open()
      }, SILENT_MS)
    }
    source = opened
    watch()
    for (const kind of KINDS) {
      opened.addEventListener(kind, (event) => {
        watch()
        hear([kind, JSON.parse(event.data)] as Said)
      })
    }
    opened.addEventListener('open', () => {
      refusals = 0
    })
    opened.addEventListener('error', () => {
      state.set('broken')
      lose()
      if (opened.readyState !== EventSource.CLOSED) return
      clearTimeout(silence)
      refused()
      timer = setTimeout(open, reopenAfter(refusals++, Math.random()))
    })
  }
  open()
  return () => {
    clearTimeout(timer)
    clearTimeout(silence)
    source?.close()
  }
}

function noteLastEvents(client: QueryClient, { sites }: StreamEvents['ingest']): void {
  const times = new Map(sites.map((site) => [site.id, site.last_event_at]))
  client.setQueryData(overviewQuery.queryKey, (overview: Overview | undefined) =>
    overview === undefined ? undefined : withLastEvents(overview, times),
  )
}

/** The overview with new times of last events. Unchanged clients stay the same objects, so that their rows are not rendered again. */
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

/** Refetches, and spaces out refetches that can wait. */
export function throttled(act: () => Promise<void>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let rest = REFRESH_MS
  let running = 0
  let isDue = false
  const cancel = () => {
    clearTimeout(timer)
    timer = undefined
    isDue = false
  }
  const now = async () => {
    cancel()
    running += 1
    const began = performance.now()
    await act()
    rest = Math.max(REFRESH_MS, REST * (performance.now() - began))
    running -= 1
    if (running === 0 && isDue) void now()
  }
  return {
    cancel,
    /** At once, instead of a refetch that is running: its connection may be dead. */
    now: () => void now(),
    /** After one that is running: with a message every two seconds, a slow answer would be given up each time and never arrive. */
    next() {
      if (running === 0) void now()
      else isDue = true
    },
    soon() {
      timer ??= setTimeout(() => void now(), rest)
    },
  }
}

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * Wait before a refused connection is tried again: doubled each time up to a minute, with jitter, so that many pages do not all come
 * at once.
 *
 * @param refusals number of consecutive refusals before this try
 * @param random 0–1
 * @returns ms
 */
export function reopenAfter(refusals: number, random: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(refusals, 10))
  return (most / 2) * (1 + random)
}

/** Time within which a stream cut by a proxy or a restart usually reconnects, ms. */
const PATIENCE_MS = 6_000

/** When the connection to the service was lost, epoch ms; null while there is one, and during `PATIENCE_MS` after losing it. */
export function useCutOff(): number | null {
  const { online } = useNetwork()
  const stream = useStreamState()
  const isLost = !online || stream === 'broken'
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => {
    if (!isLost) {
      setSince(null)
      return undefined
    }
    const lostAt = Date.now()
    const timer = setTimeout(() => setSince(lostAt), online ? PATIENCE_MS : 0)
    return () => clearTimeout(timer)
  }, [isLost, online])
  return since
}
