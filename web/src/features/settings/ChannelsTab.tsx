import { Button, Group, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff, Send } from 'lucide-react'
import { type ChannelRecord, channelsQuery, type TestResult, useTestChannels } from '../../api/channels.ts'
import type { Status } from '../../api/overview.ts'
import { useMayChange, useSession } from '../../api/session.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import { ChannelTrouble } from '../../ui/ChannelTrouble.tsx'
import { channelName, SERVICE_NAMES } from '../../ui/delivery-words.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { StatusBadge, StatusMark } from '../../ui/status/StatusMark.tsx'
import { Card } from './Card.tsx'
import classes from './settings.module.css'

/** All channels, those that need attention first. */
export function ChannelsTab() {
  const { data, error, refetch } = useQuery(channelsQuery)
  if (data !== undefined) return <Loaded channels={data.channels} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton height={240} radius="md" aria-busy="true" />
}

function Loaded({ channels }: { channels: readonly ChannelRecord[] }) {
  const { clients } = useDirectory()
  const mayChangeOf = useMayChange()
  // People with roles for single clients do not see the service's channel, so the page cannot know whether there is one.
  const { seesService, mayAddClients } = useSession()
  const global = channels.filter(({ client_id }) => client_id === null)
  const owners = groupsOf(channels, Object.values(clients))
  return (
    <Stack gap="lg">
      {seesService && (
        <Card title="Every client" about="Receives the alerts of all clients, and problems of Tagwarden itself.">
          {global.length === 0 ? (
            <p className={classes.empty}>
              Not set up. <code>CHAT_WEBHOOK_URL</code> of the service is the address of a Slack, Teams, Google Chat or
              Discord webhook, or of any other that accepts JSON.
            </p>
          ) : (
            <ChannelList channels={global} />
          )}
        </Card>
      )}
      {owners.length === 0 ? (
        <EmptyState
          icon={BellOff}
          title="No client yet"
          action={mayAddClients && <LinkButton to="/clients/new">Create a client</LinkButton>}
        >
          Each client can have a chat webhook and an e-mail address of its own, which receive alerts of its own sites
          only.
        </EmptyState>
      ) : (
        owners.map(({ id, name, own }) => (
          <Card
            key={id}
            title={name}
            actions={
              mayChangeOf(id) && (
                <Group gap="xs" align="flex-start">
                  <LinkButton
                    size="compact-md"
                    variant="default"
                    to="/clients/$clientId"
                    params={{ clientId: id }}
                    hash="channels"
                    aria-label={`Change the channels of ${name}`}
                  >
                    Change
                  </LinkButton>
                  {(own.length > 0 || global.length > 0) && <TestButton clientId={id} name={name} />}
                </Group>
              )
            }
          >
            {own.length === 0 ? (
              <p className={classes.empty}>
                {!seesService
                  ? 'No channel of its own.'
                  : global.length === 0
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

/** Clients with their channels: first those with failing channels, then those without any, then by name. */
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

const STATES: Readonly<Record<ChannelRecord['state'], { status: Status; word: string }>> = {
  ok: { status: 'ok', word: 'works' },
  failing: { status: 'warning', word: 'failing' },
  off: { status: 'critical', word: 'switched off' },
}

/** One channel: what it is, whether it works, and why not. */
function ChannelLine({ channel }: { channel: ChannelRecord }) {
  const { kind, address, minimum_severity, state, last_success_at, pending } = channel
  const untried = state === 'ok' && last_success_at === null
  return (
    <li className={classes.channel}>
      <span className={classes.service}>{SERVICE_NAMES[kind]}</span>
      <span className={classes.address}>{address ?? 'address not shown to viewers'}</span>
      <StatusBadge status={untried ? 'unknown' : STATES[state].status}>
        {untried ? 'not used yet' : STATES[state].word}
      </StatusBadge>
      <span className={classes.muted}>
        {minimum_severity === 'critical' && 'critical alerts only · '}
        {last_success_at === null ? (
          'no message yet'
        ) : (
          <>
            last message <RelativeTime at={last_success_at} />
          </>
        )}
        {pending > 0 && ` · ${counted(pending, 'message waits', 'messages wait')}`}
      </span>
      {state !== 'ok' && <ChannelTrouble channel={channel} />}
    </li>
  )
}

/** Sends a test message over all channels of a client, and shows the outcome of each under the button. */
function TestButton({ clientId, name }: { clientId: string; name: string }) {
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
