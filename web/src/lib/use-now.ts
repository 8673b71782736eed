import { useEffect } from 'react'
import { external } from './external.ts'

const TICK_MS = 10_000
const now = external(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The time, epoch ms, every ten seconds. One timer serves the whole page, so that all relative times move together. */
export function useNow(): number {
  useEffect(() => {
    users += 1
    if (users === 1) {
      now.set(Date.now())
      timer = setInterval(() => now.set(Date.now()), TICK_MS)
    }
    return () => {
      users -= 1
      if (users === 0) clearInterval(timer)
    }
  }, [])
  return now.use()
}
