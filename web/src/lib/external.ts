import { useEffect, useSyncExternalStore } from 'react'

/** A value outside of components that rerenders those that use it when it changes. */
interface External<T> {
  get: () => T
  set: (value: T) => void
  use: () => T
}

export function external<T>(initial: T): External<T> {
  const listeners = new Set<() => void>()
  let current = initial
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const get = () => current
  return {
    get,
    set(value) {
      if (Object.is(value, current)) return
      current = value
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(subscribe, get),
  }
}

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
