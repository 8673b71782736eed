import { useEffect } from 'react'

/** Keeps the screen on while the page is shown, where the browser can: it takes an address that begins with https, or this machine. */
export function useWakeLock(): void {
  useEffect(() => {
    // In browsers without it, and on addresses that are not secure, it is missing.
    const { wakeLock } = navigator as Partial<Pick<Navigator, 'wakeLock'>>
    if (wakeLock === undefined) return undefined
    let lock: WakeLockSentinel | undefined
    let isOver = false
    const request = async () => {
      if (document.visibilityState !== 'visible') return
      try {
        const got = await wakeLock.request('screen')
        if (isOver) await got.release()
        else lock = got
      } catch {
        // The battery is low, or its owner does not want it: the screen goes dark as it always does.
      }
    }
    // A page that is hidden loses its lock.
    const onShown = () => void request()
    document.addEventListener('visibilitychange', onShown)
    onShown()
    return () => {
      isOver = true
      document.removeEventListener('visibilitychange', onShown)
      void lock?.release()
    }
  }, [])
}
