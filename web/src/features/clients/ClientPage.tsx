import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { History, Pencil } from 'lucide-react'
import { type ClientRecord, clientQuery } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { usageQuery } from '../../api/usage.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusLink } from '../status/StatusLink.tsx'
import { ClientMessages } from './ClientMessages.tsx'
import { ClientSites } from './ClientSites.tsx'
import classes from './clients.module.css'
import { planLabel, planLimits } from './plans.ts'
import { UsageBar } from './UsageBar.tsx'
import { UsageMonths } from './UsageMonths.tsx'

/** One client: its sites, its plan and what is used of it, and how its people are notified. */
export function ClientPage() {
  const { clientId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(clientQuery(clientId))
  if (data !== undefined) return <Loaded client={data} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading the client
      </span>
      <Skeleton height={26} width={260} mb="sm" />
      <Skeleton height={20} width={360} mb="xl" />
      <Skeleton height={320} />
    </div>
  )
}

function Loaded({ client }: { client: ClientRecord }) {
  const { mayChange } = useSession()
  const params = { clientId: client.id }
  return (
    <>
      <PageHeader
        title={client.name}
        parents={[{ label: 'Clients & sites', to: '/clients' }]}
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
        {!client.is_active && <b> · switched off: what its sites send is refused</b>}
      </PageHeader>
      <div className={classes.sections}>
        <ClientSites client={client} />
        <div className={classes.columns}>
          <PlanPanel client={client} />
          <ClientMessages client={client} />
        </div>
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
