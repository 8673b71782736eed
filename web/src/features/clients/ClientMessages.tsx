import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { type TestResult, useTestChannels } from '../../api/channels.ts'
import type { ClientRecord } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { settingsQuery } from '../../api/settings.ts'
import { duration } from '../../lib/words.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import classes from './clients.module.css'

const MINUTE_MS = 60_000
const DIGESTS = { off: 'none', daily: 'daily', weekly: 'weekly' } as const

/** How the client's people are notified, and a message to try it. */
export function ClientMessages({ client }: { client: ClientRecord }) {
  const { mayChange } = useSession()
  const { data: settings } = useQuery(settingsQuery)
  const isMailOff = settings?.email_enabled === false
  return (
    <section className={classes.section} aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <div className={classes.panel}>
        <dl className={classes.facts}>
          {mayChange && (
            <>
              <dt>E-mail</dt>
              <dd>
                {client.email ?? 'none'}
                {client.email !== null && isMailOff && (
                  <span className={classes.muted}> · e-mail is off on this server: set SMTP_URL</span>
                )}
              </dd>
              <dt>Chat</dt>
              <dd>{client.chat_webhook === null ? 'none' : hostOf(client.chat_webhook)}</dd>
            </>
          )}
          <dt>Reminders</dt>
          <dd>
            {client.reminder_minutes === null
              ? 'none'
              : `every ${duration(client.reminder_minutes * MINUTE_MS)} while an alert is open`}
          </dd>
          <dt>Also notified of</dt>
          <dd>
            {[
              client.notify_escalated ? 'when a warning becomes critical' : null,
              client.notify_resolved ? 'when an alert is over' : null,
            ]
              .filter((part) => part !== null)
              .join(', ') || 'nothing more'}
          </dd>
          <dt>Digest</dt>
          <dd>{DIGESTS[client.digest]}</dd>
        </dl>
        {mayChange && <TestMessage client={client} />}
      </div>
    </section>
  )
}

/** The address holds a secret: the page of the client shows whose it is only. */
const hostOf = (address: string): string => URL.parse(address)?.host ?? 'set'

function TestMessage({ client }: { client: ClientRecord }) {
  const test = useTestChannels()
  return (
    <div className={classes.test}>
      <div>
        <Button
          variant="default"
          leftSection={<Send size={16} aria-hidden />}
          loading={test.isPending}
          onClick={() => test.mutate(client.id)}
        >
          Send a test message
        </Button>
      </div>
      <div role="status">
        {test.error !== null && <p className={classes.muted}>{test.error.message}</p>}
        {test.data !== undefined && (
          <ul className={classes.outcomes}>
            {test.data.map((result) => (
              <Outcome key={result.channel} result={result} />
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

const WHERE: Readonly<Record<string, string>> = { global: 'Channel of all clients', chat: 'Chat', email: 'E-mail' }

function Outcome({ result: { channel, kind, delivered, error, note } }: { result: TestResult }) {
  return (
    <li>
      <StatusBadge status={delivered ? 'ok' : 'critical'}>{delivered ? 'delivered' : 'failed'}</StatusBadge>
      <span>
        {WHERE[channel.split(':', 1).join()] ?? channel} ({kind}){error !== null && `: ${error}`}
        {note !== null && <span className={classes.muted}> · {note}</span>}
      </span>
    </li>
  )
}
