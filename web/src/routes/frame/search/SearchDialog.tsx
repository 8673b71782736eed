import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { notifyOf } from '../../../lib/refusal.ts'
import { explain } from '../../../ui/error-words.ts'

const loadSpotlight = () => import('./SearchSpotlight.tsx')
const SearchSpotlight = lazy(async () => ({ default: (await loadSpotlight()).SearchSpotlight }))

interface Search {
  /** How often it was opened; 0 while its code is not loaded. */
  asked: number
  open: () => void
  /** Loads the code when the pointer comes near. */
  prepare: () => void
}

/** The state of the search, and the keys that open it: `/`, ⌘K, Ctrl+K. */
export function useSearchDialog(): Search {
  const [asked, setAsked] = useState(0)
  const open = useCallback(() => {
    // Load explicitly: an error of a lazy component would destroy the page and its input.
    const fail = (error: Error) => {
      const { title, advice } = explain(error)
      notifyOf(title)({ message: advice })
    }
    loadSpotlight().then(() => setAsked((times) => times + 1), fail)
  }, [])
  useHotkeys([
    ['mod+K', open],
    ['/', () => document.querySelector('[role=dialog]') === null && open()],
  ])
  return useMemo(() => ({ asked, open, prepare: () => void loadSpotlight().catch(() => undefined) }), [asked, open])
}

export function SearchDialog({ asked }: Search) {
  if (asked === 0) return null
  return (
    <Suspense>
      <SearchSpotlight asked={asked} />
    </Suspense>
  )
}
