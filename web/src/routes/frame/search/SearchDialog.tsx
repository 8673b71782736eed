import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'

const loadSpotlight = () => import('./SearchSpotlight.tsx')
const SearchSpotlight = lazy(async () => ({ default: (await loadSpotlight()).SearchSpotlight }))

interface Search {
  /** How often it was asked for; 0: its code is not loaded yet. */
  asked: number
  open: () => void
  /** Loads the code, for a pointer that comes near. */
  prepare: () => void
}

/** The state of the search, and the keys that open it: `/`, ⌘K, Ctrl+K. */
export function useSearchDialog(): Search {
  const [asked, setAsked] = useState(0)
  const open = useCallback(() => setAsked((times) => times + 1), [])
  useHotkeys([
    ['mod+K', open],
    ['/', open],
  ])
  return useMemo(() => ({ asked, open, prepare: () => void loadSpotlight() }), [asked, open])
}

export function SearchDialog({ asked }: Search) {
  if (asked === 0) return null
  return (
    <Suspense>
      <SearchSpotlight asked={asked} />
    </Suspense>
  )
}
