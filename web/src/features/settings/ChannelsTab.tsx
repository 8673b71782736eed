import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff } from 'lucide-react'
import { type ChannelRecord, channelsQuery } from '../../api/channels.ts'
import { useSession } from '../../api/session.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Card } from './Card.tsx'
import { ChannelLine } from './ChannelLine.tsx'
import classes from './settings.module.css'
import { TestButton } from './TestButton.tsx'

/** Every channel, those that need someone first. */
export function ChannelsTab() {
  const { data, error, refetch } = useQuery(channelsQuery)
  if (data !== undefined) return <Loaded channels={data.channels} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton height={240} radius="md" aria-busy="true" />
}

function Loaded({ channels }: { channels: readonly ChannelRecord[] }) {
  const { clients } = useDirectory()
  const { mayChange } = useSession()
  const global = channels.filter(({ client_id }) => client_id === null)
  const owners = groupsOf(channels, Object.values(clients))
  return (
    <Stack gap="lg">
      <Card title="Every client" about="Receives the alerts of all clients, and problems of Tagwarden itself.">
        {global.length === 0 ? (
          <p className={classes.empty}>
            Not set up. <code>CHAT_WEBHOOK_URL</code> of the service is the address of a Slack, Teams, Google Chat or
            Discord webhook, or of any other that takes JSON.
          </p>
        ) : (
          <ChannelList channels={global} />
        )}
      </Card>
      {owners.length === 0 ? (
        <EmptyState icon={BellOff} title="No client yet">
          Each client can have a chat webhook and an e-mail address of its own, which receive alerts of its own sites
          only.
        </EmptyState>
      ) : (
        owners.map(({ id, name, own }) => (
          <Card
            key={id}
            title={name}
            actions={mayChange && (own.length > 0 || global.length > 0) && <TestButton clientId={id} name={name} />}
          >
            {own.length === 0 ? (
              <p className={classes.empty}>
                {global.length === 0
                  ? 'No notifications are set up for this client: add a chat webhook or an e-mail address.'
                  : 'No channel of its own: its alerts go to the webhook for every client.'}
              </p>
            ) : (
              <ChannelList channels={own} />
            )}
          </Card>
        ))
      )}
    </Stack>
  )
}

function ChannelList({ channels }: { channels: readonly ChannelRecord[] }) {
  return (
    <ul className={classes.channels}>
      {channels.map((channel) => (
        <ChannelLine key={channel.channel} channel={channel} />
      ))}
    </ul>
  )
}

interface Owner {
  id: string
  name: string
  own: ChannelRecord[]
}

const RANK = { off: 0, failing: 1, ok: 2 } as const

/** Clients with their channels: what does not work first, then those without any, then by name. */
function groupsOf(channels: readonly ChannelRecord[], clients: readonly { id: string; name: string }[]): Owner[] {
  const owners = new Map(clients.map(({ id, name }): [string, Owner] => [id, { id, name, own: [] }]))
  for (const channel of channels) {
    const { client_id: id, client_name: name } = channel
    if (id === null) continue
    const owner = owners.get(id) ?? { id, name: name ?? 'A client', own: [] }
    owner.own.push(channel)
    owners.set(id, owner)
  }
  const worst = ({ own }: Owner) => Math.min(...own.map(({ state }) => RANK[state]), own.length === 0 ? 1.5 : 2)
  return [...owners.values()].toSorted((a, b) => worst(a) - worst(b) || a.name.localeCompare(b.name))
}
