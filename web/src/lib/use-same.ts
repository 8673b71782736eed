import { replaceEqualDeep } from '@tanstack/react-query'
import { useRef } from 'react'

/** The value of before, as long as it says the same: what depends on it is not done again. For plain data only. */
export function useSame<T>(value: T): T {
  const kept = useRef(value)
  kept.current = replaceEqualDeep(kept.current, value)
  return kept.current
}
