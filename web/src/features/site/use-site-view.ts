import { useMemo } from 'react'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'
import { intervalOf, type Stretch, stretchOf } from './stretch.ts'

export const TABS = ['charts', 'tags', 'payloads'] as const
export type Tab = (typeof TABS)[number]

/** What is looked at closely. */
export type Focus = { kind: 'tag' | 'event'; name: string }

export interface SiteView {
  tab: Tab
  /** Null: the whole site. */
  focus: Focus | null
  isComparing: boolean
  /** Whose execution times are shown; empty: those of all tags. */
  timedTag: string
  setTab: (tab: Tab) => void
  /** The stretch of time that was clicked on, epoch ms: marked on every chart until it is cleared. */
  picked: Stretch | null
  /** Leads to the charts; `picked` keeps the time of the click. */
  setFocus: (focus: Focus | null, picked?: Stretch) => void
  clearPicked: () => void
  setComparing: (isComparing: boolean) => void
  setTimedTag: (tag: string) => void
}

/** What of a site's page is shown. All of it is in the address, beside the time range. */
export function useSiteView(): SiteView {
  const [tab, setTab] = useUrlState<Tab>('tab', 'charts', TABS, { push: true })
  const [tag] = useUrlState('tag', '')
  const [event] = useUrlState('event', '')
  const [compare, setCompare] = useUrlState<'previous' | ''>('compare', '', ['previous', ''])
  const [at] = useUrlState('at', '')
  const [timedTag, setTimedTag] = useUrlState('latency', '')
  const setAll = useSetUrlState({ push: true })
  return useMemo(
    () => ({
      tab,
      focus: tag !== '' ? { kind: 'tag', name: tag } : event !== '' ? { kind: 'event', name: event } : null,
      isComparing: compare === 'previous',
      timedTag,
      setTab,
      picked: stretchOf(at),
      clearPicked: () => setAll({ at: undefined }),
      setFocus: (focus, picked) =>
        setAll({
          ...(picked !== undefined && { at: intervalOf(picked) }),
          tab: undefined,
          tag: focus?.kind === 'tag' ? focus.name : undefined,
          event: focus?.kind === 'event' ? focus.name : undefined,
        }),
      setComparing: (isComparing) => setCompare(isComparing ? 'previous' : ''),
      setTimedTag,
    }),
    [tab, tag, event, compare, at, timedTag, setTab, setAll, setCompare, setTimedTag],
  )
}
