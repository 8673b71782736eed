import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { History, Pencil, Send } from 'lucide-react'
import { ownChannelsQuery, type TestResult, useTestChannels } from '../../api/channels.ts'
import { type ClientRecord, clientQuery, usageQuery } from '../../api/clients.ts'
import { AboutClient, useSession } from '../../api/session.ts'
import { duration } from '../../lib/words.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { PendingPage } from '../../ui/PendingPage.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { StatusLink } from '../status/StatusLink.tsx'
import { ClientChannels } from './ClientChannels.tsx'
import { ClientSites } from './ClientSites.tsx'
import { planLabel, planLimits } from './client-values.ts'
import classes from './clients.module.css'
import { DigestOptOuts } from './DigestOptOuts.tsx'
import { OnCall } from './OnCall.tsx'
import { UsageBar, UsageMonths } from './Usage.tsx'

/** One client: its sites, its plan with usage, and how its people are notified. */
export function ClientPage() {
  const { clientId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(clientQuery(clientId))
  if (data !== undefined) {
    return (
      <AboutClient value={data.id}>
        <Loaded key={data.id} client={data} />
      </AboutClient>
    )
  }
  return (
    <PendingPage
      title="Client"
      parents={PARENTS}
      error={error}
      onRetry={() => void refetch()}
      loading="Loading the client"
    >
      <Skeleton height={320} />
    </PendingPage>
  )
}

const PARENTS = [{ label: 'Clients', to: '/clients' }]

function Loaded({ client }: { client: ClientRecord }) {
  const { mayChange } = useSession()
  const params = { clientId: client.id }
  return (
    <>
      <PageHeader
        title={client.name}
        parents={PARENTS}
        actions={
          mayChange && (
            <>
              <LinkButton
                to="/clients/$clientId/edit"
                params={params}
                variant="default"
                leftSection={<Pencil size={16} aria-hidden />}
              >
                Edit
              </LinkButton>
              <LinkButton
                to="/audit"
                search={{ entity: client.id } as object}
                variant="default"
                leftSection={<History size={16} aria-hidden />}
              >
                Changes
              </LinkButton>
            </>
          )
        }
      >
        Plan {planLabel(client.plan)} · created <RelativeTime at={client.created_at} />
        {!client.is_active && <b> · paused: what its sites send is refused</b>}
      </PageHeader>
      <div className={classes.sections}>
        <ClientSites client={client} />
        <div className={classes.columns}>
          <PlanPanel client={client} />
          <ClientMessages client={client} />
        </div>
        <ClientChannels clientId={client.id} />
        <OnCall clientId={client.id} />
        <StatusLink clientId={client.id} />
      </div>
    </>
  )
}

function PlanPanel({ client }: { client: ClientRecord }) {
  const { data, error, refetch } = useQuery(usageQuery(client.id))
  return (
    <section className={classes.section} aria-labelledby="plan">
      <h2 id="plan">Plan and usage</h2>
      <div className={classes.panel}>
        {data !== undefined ? (
          <>
            <UsageBar usage={data} />
            <p className={classes.muted}>
              {planLabel(client.plan)}: {planLimits(client)}. The month ends{' '}
              <RelativeTime at={data.resets_at} zone="UTC" />.
            </p>
            <UsageMonths usage={data} />
          </>
        ) : error !== null ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton height={150} />
        )}
      </div>
    </section>
  )
}

const MINUTE_MS = 60_000
const DIGESTS = { off: 'none', daily: 'daily', weekly: 'weekly' } as const

/** How the client's people are notified, with a button for a test message. */
function ClientMessages({ client }: { client: ClientRecord }) {
  const { mayChange } = useSession()
  return (
    <section className={classes.section} aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <div className={classes.panel}>
        <dl className={classes.facts}>
          <dt>Reminders</dt>
          <dd>
            {client.reminder_minutes === null
              ? 'none'
              : `every ${duration(client.reminder_minutes * MINUTE_MS)} while an alert is open`}
          </dd>
          <dt>Also notified</dt>
          <dd>
            {[
              client.notify_escalated ? 'when a warning becomes critical' : null,
              client.notify_resolved ? 'when an alert is resolved' : null,
            ]
              .filter((part) => part !== null)
              .join(', ') || 'nothing more'}
          </dd>
          <dt>Quiet hours</dt>
          <dd>
            {client.quiet_from === null
              ? 'none'
              : `${client.quiet_from} to ${client.quiet_to} local time of each site, except for critical alerts`}
          </dd>
          <dt>Digest</dt>
          <dd>
            {DIGESTS[client.digest]}
            <DigestOptOuts clientId={client.id} />
          </dd>
        </dl>
        {mayChange && <TestMessage client={client} />}
      </div>
    </section>
  )
}

function TestMessage({ client }: { client: ClientRecord }) {
  const test = useTestChannels()
  const { data: channels = [] } = useQuery(ownChannelsQuery(client.id))
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
              <Outcome
                key={result.channel}
                result={result}
                name={channels.find(({ channel }) => channel === result.channel)?.name}
              />
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

interface OutcomeProps {
  result: TestResult
  /** Name of the channel; undefined for the one of all clients. */
  name: string | undefined
}

function Outcome({ result: { kind, delivered, error, note }, name = 'Channel of all clients' }: OutcomeProps) {
  return (
    <li>
      <StatusBadge status={delivered ? 'ok' : 'critical'}>{delivered ? 'delivered' : 'failed'}</StatusBadge>
      <span>
        {name} ({kind}){error !== null && `: ${error}`}
        {note !== null && <span className={classes.muted}> · {note}</span>}
      </span>
    </li>
  )
}
