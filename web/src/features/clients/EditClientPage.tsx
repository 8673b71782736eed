import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type ClientRecord, clientQuery, useUpdateClient } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MayNotChange } from '../../ui/MayNotChange.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ClientDanger } from './ClientDanger.tsx'
import { ClientForm } from './ClientForm.tsx'
import { clientValues } from './client-values.ts'
import classes from './form.module.css'

export function EditClientPage() {
  const { clientId = '' } = useParams({ strict: false })
  const { mayChange } = useSession()
  const { data, error, refetch } = useQuery(clientQuery(clientId))
  if (!mayChange) return <MayNotChange />
  if (data !== undefined) return <Loaded client={data} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton height={480} className={classes.page} />
}

function Loaded({ client }: { client: ClientRecord }) {
  const update = useUpdateClient(client.id)
  const navigate = useNavigate()
  const page = `/clients/${client.id}`
  return (
    <div className={classes.page}>
      <PageHeader
        title="Edit"
        parents={[
          { label: 'Clients & sites', to: '/clients' },
          { label: client.name, to: page },
        ]}
      >
        {client.name}
      </PageHeader>
      <ClientForm
        initial={clientValues(client)}
        action="Save"
        cancelTo={page}
        onSave={async (body) => {
          await update.mutateAsync(body)
          await navigate({ to: page })
        }}
      />
      <ClientDanger client={client} />
    </div>
  )
}
