import type { ChannelRecord } from '../api/channels.ts'
import classes from './ChannelTrouble.module.css'
import { mendOfChannel } from './delivery-words.ts'
import { RelativeTime } from './RelativeTime.tsx'

interface ChannelTroubleProps {
  channel: ChannelRecord
}

/** Why a channel delivers nothing, since when, and what to do. */
export function ChannelTrouble({
  channel: { channel, state, last_error, failing_since, off_since, next_attempt_at },
}: ChannelTroubleProps) {
  return (
    <p className={classes.trouble}>
      {last_error !== null && <b>{last_error}. </b>}
      {state === 'off' ? (
        <>
          Off since <RelativeTime at={off_since} />. It was refused permanently: {mendOfChannel(channel)}, or send a
          test message once it works again.
        </>
      ) : (
        <>
          Since <RelativeTime at={failing_since} />.{' '}
          {next_attempt_at !== null && (
            <>
              Retried automatically <RelativeTime at={next_attempt_at} />.
            </>
          )}
        </>
      )}
    </p>
  )
}
