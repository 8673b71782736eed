import { useNetwork } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useStreamState } from './stream.ts'

/** Time within which a stream cut by a proxy or a restart usually reconnects, ms. */
const PATIENCE_MS = 6_000

/** When the connection to the service was lost, epoch ms; null while there is one, and during `PATIENCE_MS` after losing it. */
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
