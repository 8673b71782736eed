import { useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import type { Query } from '../../api/client.ts'
import { isForPage } from '../../lib/keys.ts'
import { type UrlSearch, useSetUrlState } from '../../lib/use-url-state.ts'
import { type Bounds, queryOf, rangeOf, searchOf, type TimeRange, zoomed } from './range.ts'

interface TimeRangeState {
  range: TimeRange
  /** The query parameters for reports. */
  query: Query
  set: (range: TimeRange) => void
}

/** The range in the page's address, and a function to change it. */
export function useTimeRange(): TimeRangeState {
  const search = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const setAll = useSetUrlState({ push: true })
  const { range: preset, from, to } = search
  return useMemo(() => {
    const range = rangeOf({ range: preset, from, to })
    return { range, query: queryOf(range), set: (next: TimeRange) => setAll(searchOf(next)) }
  }, [preset, from, to, setAll])
}

/** Zooms to the span that the user drags over in a chart. */
export interface Zoom {
  /** @param selected as dragged, epoch ms; @param chart the ends of the chart */
  into: (selected: Bounds, chart: Bounds) => void
  /** Returns to the range before the first zoom. */
  reset: () => void
}

/** Zooms the page's range; Escape returns to the previous one. */
export function useZoom(): Zoom {
  const { range, set } = useTimeRange()
  const current = useRef(range)
  current.current = range
  const before = useRef<TimeRange[]>([])
  const back = useCallback(
    (steps: number) => {
      // Skip ranges to which the browser's back button has returned already.
      const left = before.current.filter((each) => !isSame(each, current.current))
      const target = left.at(-steps) ?? left[0]
      before.current = target === undefined ? [] : left.slice(0, left.indexOf(target))
      if (target !== undefined) set(target)
    },
    [set],
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && before.current.length > 0 && isForPage(event)) back(1)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [back])
  return useMemo(
    () => ({
      into: (selected, chart) => {
        const next = zoomed(selected, chart)
        if (next === null) return
        before.current.push(current.current)
        set(next)
      },
      reset: () => back(Number.POSITIVE_INFINITY),
    }),
    [set, back],
  )
}

const isSame = (a: TimeRange, b: TimeRange): boolean => JSON.stringify(searchOf(a)) === JSON.stringify(searchOf(b))
