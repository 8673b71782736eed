import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { StreamEvents } from '../../../src/dashboard/index.ts'
import { external } from '../lib/external.ts'
import { type Overview, overviewQuery } from './overview.ts'

export type { StreamEvents } from '../../../src/dashboard/index.ts'

/** Whether changes arrive as they happen. `closed` before the first message and where no one is signed in, `resting` in a tab in the background. */
type StreamState = 'closed' | 'open' | 'broken' | 'resting'

const state = external<StreamState>('closed')
export const useStreamState = state.use

/** Counts move with every message; all figures are asked for again at most this often, ms. */
const REFRESH_MS = 5_000
/** … and not before this many times as long as the last answer took: over a thousand sites it is work for the service. */
const REST = 20
/**
 * A message comes every 25 seconds. After so long without one the connection is dead, whatever the browser thinks: a service that hangs, or
 * a device that has changed its network, closes nothing, ms.
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

/** Keeps this tab live while `isOn`; the frame calls it. */
export function useStream(isOn = true): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!isOn) return undefined
    const refresh = throttled(() => client.invalidateQueries({ queryKey: overviewQuery.queryKey }))
    const hear = ([kind, message]: Said) => {
      // What happened while there was no connection reached no listener.
      if (state.get() === 'broken' || state.get() === 'resting') refresh.now()
      state.set('open')
      if (kind === 'ingest') {
        noteLastEvents(client, message)
        refresh.soon()
      } else if (kind !== 'alive') refresh.now()
      for (const listener of listeners[kind] as ReadonlySet<(message: unknown) => void>) listener(message)
    }
    const stop = amongTabs(hear)
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

/** What a tab with a stream says. */
interface Passed {
  /** When it opened it. */
  since: number
  /** Undefined: it has lost the connection, or is closed. */
  said: Said | undefined
}

/**
 * Without HTTP/2 a browser has six connections to a host, for all its windows together: with a stream in each of six no call of any would be
 * answered. So the tab that was looked at last has the one stream, and passes on what it hears to those in sight. One in the background with
 * none rests until it is looked at. Where two have a stream, the one that opened it first closes it with the other's first message, so that
 * nothing is lost between them. (No Web Lock: a page without TLS has none.)
 */
function amongTabs(hear: Hear): () => void {
  const tabs = new BroadcastChannel('tagwarden-stream')
  let close: (() => void) | undefined
  let since = 0
  let silence: ReturnType<typeof setTimeout> | undefined
  const pass = (said: Said | undefined) => tabs.postMessage({ since, said } satisfies Passed)
  const lead = () => {
    clearTimeout(silence)
    if (document.hidden || close !== undefined) return
    // Later than any other tab's, but for two at the same moment.
    since = Date.now() + Math.random()
    const passOn: Hear = (said) => {
      pass(said)
      hear(said)
    }
    close = keepOpen(passOn, () => pass(undefined))
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
 * A browser reopens a lost connection, but gives up for good where the answer is not a stream: 429 while there are
 * too many, 503 while the service or the proxy before it restarts. And one that only falls silent it keeps for ever.
 *
 * @param hear gets every message
 * @param lose is called when the connection is lost
 */
function keepOpen(hear: Hear, lose: () => void): () => void {
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

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * How long to wait before a connection that was refused is tried again: twice as long each time up to a minute, and spread, so that
 * the pages of many people do not all come at once.
 *
 * @param refusals one after another, before this try
 * @param random 0–1
 * @returns ms
 */
export function reopenAfter(refusals: number, random: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(refusals, 10))
  return (most / 2) * (1 + random)
}
