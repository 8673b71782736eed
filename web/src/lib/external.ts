import { useSyncExternalStore } from 'react'

/** A value that lives outside the components and redraws those that use it when it changes. */
export interface External<T> {
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
