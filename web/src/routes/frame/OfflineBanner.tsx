import { useNetwork } from '@mantine/hooks'
import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useStreamState } from '../../api/stream.ts'
import classes from './Frame.module.css'

/** A stream comes back by itself within this time when only a proxy or a restart has cut it, ms. */
const PATIENCE_MS = 6_000

/** Says that what is shown may be old. Nothing on the page moves for it. */
export function OfflineBanner() {
  const isCutOff = useIsCutOff()
  return (
    <div role="status">
      {isCutOff && (
        <div className={classes.banner}>
          <WifiOff size={16} aria-hidden />
          No connection to Tagwarden: what you see may be old. Trying again.
        </div>
      )}
    </div>
  )
}

function useIsCutOff(): boolean {
  const { online } = useNetwork()
  const stream = useStreamState()
  const [isLongBroken, setLongBroken] = useState(false)
  useEffect(() => {
    if (stream !== 'broken') {
      setLongBroken(false)
      return undefined
    }
    const timer = setTimeout(() => setLongBroken(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [stream])
  return !online || isLongBroken
}
