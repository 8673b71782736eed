import type { ChannelRecord } from '../../api/channels.ts'
import type { Status } from '../../api/overview.ts'
import { counted } from '../../lib/words.ts'
import { SERVICE_NAMES } from '../../ui/delivery/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import classes from './settings.module.css'

const STATES: Readonly<Record<ChannelRecord['state'], { status: Status; word: string }>> = {
  ok: { status: 'ok', word: 'works' },
  failing: { status: 'warning', word: 'failing' },
  off: { status: 'critical', word: 'switched off' },
}

/** One way to reach people: what it is, whether it works, and why not. */
export function ChannelLine({ channel }: { channel: ChannelRecord }) {
  const { kind, address, state, last_success_at, pending } = channel
  const untried = state === 'ok' && last_success_at === null
  return (
    <li className={classes.channel}>
      <span className={classes.service}>{SERVICE_NAMES[kind]}</span>
      <span className={classes.address}>{address ?? 'address not shown to viewers'}</span>
      <StatusBadge status={untried ? 'unknown' : STATES[state].status}>
        {untried ? 'not used yet' : STATES[state].word}
      </StatusBadge>
      <span className={classes.muted}>
        {last_success_at === null ? (
          'no message yet'
        ) : (
          <>
            last message <RelativeTime at={last_success_at} />
          </>
        )}
        {pending > 0 && ` · ${counted(pending, 'message waits', 'messages wait')}`}
      </span>
      {state !== 'ok' && <Trouble channel={channel} />}
    </li>
  )
}

function Trouble({
  channel: { state, last_error, failing_since, off_since, next_attempt_at, kind },
}: {
  channel: ChannelRecord
}) {
  return (
    <p className={classes.trouble}>
      {last_error !== null && <b>{last_error}. </b>}
      {state === 'off' ? (
        <>
          Off since <RelativeTime at={off_since} />. It was refused for good: edit the client's{' '}
          {kind === 'email' ? 'e-mail address' : 'webhook'}, or send a test message once it works again.
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
