import { useNetwork } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useStreamState } from './stream.ts'

/** A stream reconnects within this time when only a proxy or a restart has cut it, ms. */
const PATIENCE_MS = 6_000

/** Since when there is no connection to the service, epoch ms; null while there is one, or it was lost just now. */
export function useCutOff(): number | null {
  const { online } = useNetwork()
  const stream = useStreamState()
  const isLost = !online || stream === 'broken'
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => {
    if (!isLost) {
      setSince(null)
      return undefined
    }
    const lostAt = Date.now()
    const timer = setTimeout(() => setSince(lostAt), online ? PATIENCE_MS : 0)
    return () => clearTimeout(timer)
  }, [isLost, online])
  return since
}
