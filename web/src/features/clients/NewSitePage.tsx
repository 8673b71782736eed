import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { clientQuery } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { useCreateSite } from '../../api/sites.ts'
import { ownZone } from '../../lib/zone.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MayNotChange } from '../../ui/MayNotChange.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import classes from './form.module.css'
import { SiteForm } from './SiteForm.tsx'
import { emptySite } from './site-values.ts'

/** A new site leads on to its set-up. */
export function NewSitePage() {
  const { clientId = '' } = useParams({ strict: false })
  const { mayChange } = useSession()
  const { data: client, error, refetch } = useQuery(clientQuery(clientId))
  const create = useCreateSite()
  const navigate = useNavigate()
  const [initial] = useState(() => emptySite(ownZone()))
  if (!mayChange) return <MayNotChange />
  if (client === undefined) {
    if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
    return <Skeleton height={480} className={classes.page} />
  }
  return (
    <div className={classes.page}>
      <PageHeader
        title="New site"
        parents={[
          { label: 'Clients & sites', to: '/clients' },
          { label: client.name, to: `/clients/${client.id}` },
        ]}
      >
        One web property of {client.name}. Name and address are enough to begin with.
      </PageHeader>
      <SiteForm
        initial={initial}
        action="Create the site"
        cancelTo={`/clients/${client.id}`}
        isNew
        onSave={async (body, auto_probes) => {
          const { id } = await create.mutateAsync({ ...body, client_id: client.id, auto_probes })
          await navigate({ to: '/sites/$siteId/setup', params: { siteId: id } })
        }}
      />
    </div>
  )
}
