const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Runs `work` with a signal that is aborted when SIGINT or SIGTERM comes. What listens to it tidies up at once: right after
 * the process ends by that same signal, without waiting for SQL in another thread that nothing can stop.
 */
export async function untilInterrupted<T>(work: (interruption: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController()
  const onSignal = (signal: NodeJS.Signals): void => {
    interruption.abort()
    stopListening()
    process.kill(process.pid, signal)
  }
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    return await work(interruption.signal)
  } finally {
    stopListening()
  }
}
