import { type QueryKey, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { type AlertFilter, type AlertRecord, alertsQuery, resolvedAlertsQuery } from '../../api/alerts.ts'
import { keepSame } from '../../lib/keep-same.ts'
import { isForPage } from '../../lib/keys.ts'
import { useDirectoryWith } from '../../lib/paused-sites.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'
import { type Counts, countsOf, FILTERS, type Filter, type InboxRow, inboxRows } from './inbox.ts'
import { POLL_MS } from './use-live-alerts.ts'

/** Maximum number in one answer; no one reads more open alerts one by one. */
const UNRESOLVED_MOST = 1_000
const RESOLVED_PAGE = 50
const SEVERITIES = ['all', 'critical', 'warning'] as const

/** The filter, which is kept in the page's address. */
export function useInboxFilter() {
  const [filter, setFilter] = useUrlState<Filter>('state', 'all', FILTERS, { push: true })
  const [client] = useUrlState('client', '')
  const [site] = useUrlState('site', '')
  const [severity, setSeverity] = useUrlState<(typeof SEVERITIES)[number]>('severity', 'all', SEVERITIES)
  const [text, setText] = useUrlState('q', '')
  const set = useSetUrlState()
  return {
    filter,
    setFilter,
    client,
    site,
    severity,
    setSeverity,
    text,
    setText,
    isNarrowed: text !== '' || client !== '' || site !== '' || severity !== 'all',
    showAll: () => set({ state: undefined, q: undefined, client: undefined, site: undefined, severity: undefined }),
  }
}
export type InboxFilter = ReturnType<typeof useInboxFilter>

export interface Inbox {
  /** Null while loading. */
  rows: InboxRow[] | null
  counts: Counts
  /** More resolved alerts than were read. */
  hasOlder: boolean
  showOlder: () => void
  isShowingOlder: boolean
  error: Error | null
  retry: () => void
  directory: Directory
}

/** Whether a list's key narrows to the same client and site. */
export const isSamePlace = (client: string, site: string) => (key: QueryKey) => {
  const { client_id = '', site_id = '' } = key[2] as AlertFilter
  return client_id === client && site_id === site
}

export function useInbox({ filter, client, site, severity, text }: InboxFilter): Inbox {
  const sought = useDeferredValue(text)
  const asked: AlertFilter = {
    ...(client === '' ? {} : { client_id: client }),
    ...(site === '' ? {} : { site_id: site }),
    ...(severity === 'all' ? {} : { severity }),
  }
  const live = { refetchInterval: POLL_MS, placeholderData: keepSame(isSamePlace(client, site)) }
  const unresolved = useQuery({ ...alertsQuery({ ...asked, resolved: false, limit: UNRESOLVED_MOST }), ...live })
  const resolved = useInfiniteQuery({ ...resolvedAlertsQuery(asked, RESOLVED_PAGE), ...live })
  const alerts = useMemo(
    () =>
      unresolved.data === undefined || resolved.data === undefined
        ? null
        : [...unresolved.data, ...resolved.data.pages.flat()],
    [unresolved.data, resolved.data],
  )
  const directory = useDirectoryWith((alerts ?? []).map(({ site_id }) => site_id))
  const rows = useMemo(
    () => (alerts === null ? null : inboxRows(alerts, directory, { filter, text: sought })),
    [alerts, directory, filter, sought],
  )
  return {
    rows,
    counts: countsOf(unresolved.data ?? [], (unresolved.data?.length ?? 0) < UNRESOLVED_MOST),
    hasOlder: resolved.hasNextPage && (filter === 'all' || filter === 'resolved'),
    showOlder: () => void resolved.fetchNextPage(),
    isShowingOlder: resolved.isFetchingNextPage,
    error: unresolved.error ?? resolved.error,
    retry: () => {
      void unresolved.refetch()
      void resolved.refetch()
    },
    directory,
  }
}

/** Something that can be selected: an alert or an incident. */
type Pickable = Pick<AlertRecord, 'id' | 'state'>

/** The selected open lines; one that is no longer open or shown leaves the selection. */
function useSelection(shown: readonly Pickable[]) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const open = shown.flatMap(({ id, state }) => (state === 'open' ? [id] : []))
  const selected = new Set(open.filter((id) => picked.has(id)))
  return {
    selected,
    openCount: open.length,
    toggle({ id, state }: Pickable) {
      if (state !== 'open') return
      const next = new Set(selected)
      if (!next.delete(id)) next.add(id)
      setPicked(next)
    },
    all: () => setPicked(new Set(open)),
    clear: () => setPicked(new Set()),
  }
}
export type Selection = ReturnType<typeof useSelection>

/** What the keys do. */
interface Keys {
  down: () => void
  up: () => void
  open: () => void
  acknowledge: () => void
  silence: () => void
  select: () => void
  /** Of a list whose lines unfold. */
  unfold?: () => void
}

const MEANING: Readonly<Record<string, keyof Keys>> = {
  j: 'down',
  ArrowDown: 'down',
  k: 'up',
  ArrowUp: 'up',
  o: 'open',
  a: 'acknowledge',
  s: 'silence',
  x: 'select',
  e: 'unfold',
}

/** Handles the page's keys, except in input fields and while a dialog is open. */
function useInboxKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  // A layout effect, so that keys work as soon as the rows are visible.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (!isForPage(event)) return
      // Outside of the list, arrow keys scroll the page.
      if (event.key.startsWith('Arrow') && document.activeElement?.closest('[data-index]') == null) return
      const meaning = MEANING[event.key]
      const act = meaning === undefined ? undefined : latest.current[meaning]
      if (act === undefined) return
      event.preventDefault()
      // Otherwise a menu that this key opens would see it as a key pressed outside, and close.
      event.stopImmediatePropagation()
      // A key that is held down moves on through the list, but acts only once.
      if (!event.repeat || meaning === 'down' || meaning === 'up') act()
    }
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])
}

interface InboxActions<Item> {
  mayActOn: (item: Item) => boolean
  open: (item: Item) => void
  acknowledge: (ids: string[]) => void
  /** Of a list whose lines unfold. */
  unfold?: (id: string) => void
}

/** State of the list: the focused line, the one with an open silence menu, the selection, and the keys for them. */
export function useInboxActions<Item extends Pickable>(shown: readonly Item[], actions: InboxActions<Item>) {
  const { mayActOn, open, acknowledge, unfold } = actions
  const [active, setActive] = useState<string | null>(null)
  const [silencing, setSilencing] = useState<string | null>(null)
  const selection = useSelection(shown.filter(mayActOn))
  const index = shown.findIndex(({ id }) => id === active)
  const current = shown[index]
  const move = (step: number) => setActive(shown[Math.max(0, Math.min(shown.length - 1, index + step))]?.id ?? null)
  const look = (act: (item: Item) => void) => () => {
    if (current !== undefined) act(current)
  }
  const change = (act: (item: Item) => void) =>
    look((item) => {
      if (mayActOn(item)) act(item)
    })
  useInboxKeys({
    down: () => move(1),
    up: () => move(index === -1 ? 1 : -1),
    open: look(open),
    acknowledge: change(({ id, state }) => {
      if (state === 'open') acknowledge([id])
    }),
    silence: change(({ id, state }) => {
      if (state !== 'resolved') setSilencing(id)
    }),
    select: change(selection.toggle),
    ...(unfold === undefined ? {} : { unfold: look(({ id }) => unfold(id)) }),
  })
  return { active, setActive, silencing, setSilencing, selection }
}
