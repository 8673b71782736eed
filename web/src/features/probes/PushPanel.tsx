import { Button, Skeleton, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useId, useState } from 'react'
import { type ProbeRecord, type PushRecord, pushQuery, useNewPushAddress } from '../../api/probes.ts'
import { useSession } from '../../api/session.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { ErrorState } from '../../ui/States.tsx'
import classes from './push.module.css'
import { crontabLine, curlLine, durationWords, pushAddress } from './push.ts'

interface Props {
  probe: ProbeRecord
  zone: string | undefined
}

/** The address that a job calls, how to call it, and the last call. */
export function PushPanel({ probe, zone }: Props) {
  const id = useId()
  const { data, error, refetch } = useQuery(pushQuery(probe.id))
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <h2 id={id}>Calls</h2>
      {data !== undefined ? (
        <>
          <LastCall push={data} zone={zone} />
          <Address probe={probe} push={data} />
        </>
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={120} />
      )}
    </section>
  )
}

function LastCall({ push, zone }: { push: PushRecord; zone: string | undefined }) {
  const at = zone === undefined ? {} : { zone }
  const { last_call_at, last_status, last_message, last_duration_ms, started_at } = push
  return (
    <dl className={classes.facts}>
      <div>
        <dt>Last call</dt>
        <dd>{last_call_at === null ? 'none yet' : <RelativeTime at={last_call_at} {...at} />}</dd>
      </div>
      {last_status !== null && (
        <div>
          <dt>It said</dt>
          <dd>
            {last_status}
            {last_message === null || last_message === '' ? '' : `: ${last_message}`}
          </dd>
        </div>
      )}
      {last_duration_ms !== null && (
        <div>
          <dt>It took</dt>
          <dd>{durationWords(last_duration_ms)}</dd>
        </div>
      )}
      {started_at !== null && (
        <div>
          <dt>Runs since</dt>
          <dd>
            <RelativeTime at={started_at} {...at} />
          </dd>
        </div>
      )}
    </dl>
  )
}

function Address({ probe, push }: { probe: ProbeRecord; push: PushRecord }) {
  const { mayChange } = useSession()
  const renew = useNewPushAddress(probe.id)
  const [isAsking, setAsking] = useState(false)
  const address = pushAddress(push, window.location.origin)
  if (address === null)
    return <p className={classes.text}>The address that the job calls is shown to editors of the client only.</p>
  const lines = [
    { what: 'address', label: 'Address', text: address },
    { what: 'command', label: 'At the end of a script', text: curlLine(address) },
    { what: 'crontab line', label: 'In a crontab', text: crontabLine(address, Number(probe.config.period_minutes)) },
  ]
  return (
    <>
      {lines.map(({ what, label, text }) => (
        <div key={what} className={classes.line}>
          <TextInput
            className={classes.field}
            label={label}
            value={text}
            readOnly
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={text} what={what} />
        </div>
      ))}
      <p className={classes.text}>
        The address takes <code>GET</code>, <code>HEAD</code> and <code>POST</code>. With <code>/fail</code> behind it
        the job says that it failed, with <code>/$?</code> how it ended, and with{' '}
        <code>?status=warning&amp;message=…</code> what people should know. Anyone who has the address can call it.
      </p>
      {mayChange && (
        <div>
          <Button variant="default" leftSection={<KeyRound size={16} aria-hidden />} onClick={() => setAsking(true)}>
            New address …
          </Button>
        </div>
      )}
      <Confirm
        opened={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => renew.mutateAsync(undefined)}
        title={`New address for ${probe.name}`}
        action="Make a new address"
      >
        The address stops working at once. Until the job calls the new one, this probe waits for it as for a first call.
      </Confirm>
    </>
  )
}
