import { Button } from '@mantine/core'
import { Send } from 'lucide-react'
import { type TestResult, useTestChannels } from '../../api/channels.ts'
import { channelName } from '../../ui/delivery/words.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import classes from './settings.module.css'

/** Sends a test message over all channels of a client, and shows the outcome of each under the button. */
export function TestButton({ clientId, name }: { clientId: string; name: string }) {
  const test = useTestChannels()
  return (
    <div className={classes.test}>
      <Button
        size="compact-md"
        variant="default"
        leftSection={<Send size={14} aria-hidden />}
        loading={test.isPending}
        onClick={() => test.mutate(clientId)}
        aria-label={`Send a test message to ${name}`}
      >
        Test
      </Button>
      <div role="status">
        {test.error !== null && <p className={classes.failure}>{test.error.message}</p>}
        {test.data !== undefined && <Outcomes results={test.data} />}
      </div>
    </div>
  )
}

function Outcomes({ results }: { results: readonly TestResult[] }) {
  return (
    <ul className={classes.outcomes}>
      {results.map(({ channel, kind, delivered, error, note }) => (
        <li key={channel}>
          <StatusMark status={delivered ? 'ok' : 'critical'} size={10} />
          <span>
            {channelName({ channel, service: kind })}: {delivered ? 'delivered' : (error ?? 'not delivered')}
            {note !== null && ` (${note})`}
          </span>
        </li>
      ))}
    </ul>
  )
}
