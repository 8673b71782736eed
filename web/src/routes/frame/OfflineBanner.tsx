import { WifiOff } from 'lucide-react'
import classes from './Frame.module.css'

/** Says how old what is shown is. Nothing on the page moves for it. */
export function OfflineBanner({ since }: { since: number | null }) {
  return (
    <div role="status">
      {since !== null && (
        <div className={classes.banner}>
          <WifiOff size={16} aria-hidden />
          No connection to Tagwarden. You see the state as of {clockOf(since)}. Trying again.
        </div>
      )}
    </div>
  )
}

/** On the clock of the device: the banner is about the device's connection. */
const clockOf = (at: number): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(at)
