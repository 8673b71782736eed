import { useMemo } from 'react'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'

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
  /** Leads to the charts. */
  setFocus: (focus: Focus | null) => void
  setComparing: (isComparing: boolean) => void
  setTimedTag: (tag: string) => void
}

/** What of a site's page is shown. All of it is in the address, beside the time range. */
export function useSiteView(): SiteView {
  const [tab, setTab] = useUrlState<Tab>('tab', 'charts', TABS, { push: true })
  const [tag] = useUrlState('tag', '')
  const [event] = useUrlState('event', '')
  const [compare, setCompare] = useUrlState<'previous' | ''>('compare', '', ['previous', ''])
  const [timedTag, setTimedTag] = useUrlState('latency', '')
  const setAll = useSetUrlState({ push: true })
  return useMemo(
    () => ({
      tab,
      focus: tag !== '' ? { kind: 'tag', name: tag } : event !== '' ? { kind: 'event', name: event } : null,
      isComparing: compare === 'previous',
      timedTag,
      setTab,
      setFocus: (focus) =>
        setAll({
          tab: undefined,
          tag: focus?.kind === 'tag' ? focus.name : undefined,
          event: focus?.kind === 'event' ? focus.name : undefined,
        }),
      setComparing: (isComparing) => setCompare(isComparing ? 'previous' : ''),
      setTimedTag,
    }),
    [tab, tag, event, compare, timedTag, setTab, setAll, setCompare, setTimedTag],
  )
}
