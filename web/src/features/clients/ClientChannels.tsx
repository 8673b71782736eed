import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import {
  type ChannelRecord,
  channelsQuery,
  type OwnChannelRecord,
  ownChannelsQuery,
  useDeleteOwnChannel,
  useTestOwnChannel,
} from '../../api/channels.ts'
import { useSession } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useStaysOpen } from '../../lib/use-may-open.ts'
import { useUrlDialog } from '../../lib/use-url-dialog.ts'
import { ChannelTrouble } from '../../ui/ChannelTrouble.tsx'
import { Confirm } from '../../ui/Confirm.tsx'
import { Awaited } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { ChannelForm } from './ChannelForm.tsx'
import { KINDS } from './channel-values.ts'
import classes from './channels.module.css'
import page from './clients.module.css'

/** The ways to reach a client's people: each with a kind, a name, and what it is for. */
export function ClientChannels({ clientId }: { clientId: string }) {
  const { mayChange } = useSession()
  const { data, error, refetch } = useQuery(ownChannelsQuery(clientId))
  // Only this query shows whether Tagwarden has switched a channel off.
  const { data: known } = useQuery(channelsQuery)
  const [edited, setEdited] = useState<OwnChannelRecord | null>(null)
  // In the address, because warnings on other pages lead to the form.
  const [dialog, openDialog, closeDialog] = useUrlDialog()
  const isAdding = useStaysOpen(dialog, mayChange) && dialog === 'channel'
  return (
    <section className={page.section} aria-labelledby="channels">
      <div className={page.sectionHead}>
        <h2 id="channels">Channels</h2>
        {mayChange && (
          <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={() => openDialog('channel')}>
            Add a channel
          </Button>
        )}
      </div>
      <div className={page.panel}>
        {data === undefined ? (
          <Awaited error={error} onRetry={() => void refetch()} height={64} />
        ) : data.length === 0 ? (
          <p className={page.muted}>
            None. Add a chat, e-mail, PagerDuty, Jira Service Management or a signed webhook, each for all incidents or
            only for critical ones.
          </p>
        ) : (
          <ul className={classes.channels}>
            {data.map((channel) => (
              <Channel
                key={channel.id}
                channel={channel}
                delivery={known?.channels.find((one) => one.channel === channel.channel)}
                isOff={channel.kind === 'email' && known?.email_enabled === false}
                mayChange={mayChange}
                onEdit={() => setEdited(channel)}
              />
            ))}
            {takeNoWarning(data) && (
              <li className={classes.channel}>
                <StatusBadge status="warning">No channel here accepts warnings</StatusBadge>
                <span className={page.muted}>Every active one accepts critical alerts only.</span>
              </li>
            )}
          </ul>
        )}
      </div>
      {isAdding && <ChannelForm clientId={clientId} channel={null} onClose={closeDialog} />}
      {edited !== null && <ChannelForm clientId={clientId} channel={edited} onClose={() => setEdited(null)} />}
    </section>
  )
}

function takeNoWarning(channels: readonly OwnChannelRecord[]): boolean {
  const on = channels.filter(({ is_active }) => is_active)
  return on.length > 0 && on.every(({ minimum_severity }) => minimum_severity === 'critical')
}

interface ChannelProps {
  channel: OwnChannelRecord
  /** Its delivery state; undefined until it is loaded. */
  delivery: ChannelRecord | undefined
  /** Whether it is an e-mail channel while this service sends no e-mail. */
  isOff: boolean
  mayChange: boolean
  onEdit: () => void
}

const waitInWords = (minutes: number): string => (minutes === 0 ? 'warnings at once' : `warnings after ${minutes} min`)

function Channel({ channel, delivery, isOff, mayChange, onEdit }: ChannelProps) {
  const {
    id,
    field,
    client_id,
    kind,
    name,
    address,
    minimum_severity,
    warnings_after_minutes: wait,
    is_active,
  } = channel
  const test = useTestOwnChannel(client_id)
  const remove = useDeleteOwnChannel(client_id)
  const [isRemoving, setRemoving] = useState(false)
  const [result] = test.data ?? []
  const facts = [
    KINDS[kind].title,
    address,
    minimum_severity === 'critical' ? 'critical alerts only' : null,
    minimum_severity === 'critical' || wait === null ? null : waitInWords(wait),
    is_active ? null : 'switched off',
    isOff ? 'e-mail is off on this server: set SMTP_URL' : null,
  ]
  return (
    <li className={classes.channel}>
      <span className={classes.what}>
        <b>{name}</b>
        <span className={page.muted}>{facts.filter((fact) => fact !== null).join(' · ')}</span>
      </span>
      {mayChange && (
        <span className={classes.acts}>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Test ${name}`}
            disabled={!is_active}
            loading={test.isPending}
            onClick={() => test.mutate(id, { onError: notifyOf() })}
          >
            Test
          </Button>
          <Button size="compact-sm" variant="default" aria-label={`Edit ${name}`} onClick={onEdit}>
            Edit
          </Button>
          <Button size="compact-sm" variant="default" aria-label={`Delete ${name}`} onClick={() => setRemoving(true)}>
            Delete …
          </Button>
        </span>
      )}
      <span role="status" className={classes.result}>
        {result !== undefined && (
          <>
            <StatusBadge status={result.delivered ? 'ok' : 'critical'}>
              {result.delivered ? 'delivered' : 'failed'}
            </StatusBadge>
            {result.error}
          </>
        )}
      </span>
      {is_active && delivery !== undefined && delivery.state !== 'ok' && <ChannelTrouble channel={delivery} />}
      <Confirm
        opened={isRemoving}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutateAsync(id)}
        title={`Delete the channel ${name}`}
        action="Delete"
      >
        Nothing is sent over it any more{field === 'email' && ', not even digests'}, and waiting messages are cancelled.
        Its address or key has to be entered again to add it.
      </Confirm>
    </li>
  )
}
