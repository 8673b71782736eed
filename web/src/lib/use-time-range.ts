import { useRouterState } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Query } from '../api/client.ts'
import { type UrlSearch, useSetUrlState } from './use-url-state.ts'

/** The ranges that end now, by the name they have in the address. */
export const PRESETS = {
  '1h': { hours: 1, label: 'Last hour' },
  '6h': { hours: 6, label: 'Last 6 hours' },
  '24h': { hours: 24, label: 'Last 24 hours' },
  '7d': { hours: 168, label: 'Last 7 days' },
  '30d': { hours: 720, label: 'Last 30 days' },
} as const
export type Preset = keyof typeof PRESETS

const FALLBACK: Preset = '24h'

/** The range that the address names: a preset, which moves with the time, or one from a moment to another (ISO 8601). */
export type TimeRange = { preset: Preset } | { from: string; to: string }

/** @returns the range, what to pass to the reports' calls for it, and how to change it */
export function useTimeRange(): { range: TimeRange; query: Query; set: (range: TimeRange) => void } {
  const search = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const setAll = useSetUrlState({ push: true })
  const { range: preset, from, to } = search
  return useMemo(() => {
    const range = rangeOf({ preset, from, to })
    return {
      range,
      query: 'preset' in range ? { hours: PRESETS[range.preset].hours } : range,
      set: (next: TimeRange) =>
        setAll(
          'preset' in next
            ? { range: next.preset === FALLBACK ? undefined : next.preset, from: undefined, to: undefined }
            : { range: undefined, ...next },
        ),
    }
  }, [preset, from, to, setAll])
}

function rangeOf({ preset = FALLBACK, from, to }: Record<'preset' | 'from' | 'to', string | undefined>): TimeRange {
  if (from !== undefined && to !== undefined && Date.parse(from) < Date.parse(to)) return { from, to }
  return { preset: preset in PRESETS ? (preset as Preset) : FALLBACK }
}
