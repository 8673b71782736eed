import { useEffect, useRef } from 'react'
import { isForPage } from '../../lib/keys.ts'

/** What the keys do. */
export interface Keys {
  down: () => void
  up: () => void
  open: () => void
  acknowledge: () => void
  silence: () => void
  select: () => void
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
}

/** Keys of the page, as long as nothing is typed and no dialog is open. */
export function useInboxKeys(keys: Keys, isInList: () => boolean): void {
  const latest = useRef({ keys, isInList })
  latest.current = { keys, isInList }
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (!isForPage(event)) return
      // Elsewhere arrows scroll the page.
      if (event.key.startsWith('Arrow') && !latest.current.isInList()) return
      const meaning = MEANING[event.key]
      if (meaning === undefined) return
      event.preventDefault()
      // A menu that this key opens would take it for one pressed outside of it, and close.
      event.stopImmediatePropagation()
      latest.current.keys[meaning]()
    }
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])
}
