import { replaceEqualDeep } from '@tanstack/react-query'
import { useRef } from 'react'

/** Returns the previous value while it is deeply equal, so that what depends on it does not run again. Only for plain data. */
export function useSame<T>(value: T): T {
  const kept = useRef(value)
  kept.current = replaceEqualDeep(kept.current, value)
  return kept.current
}
