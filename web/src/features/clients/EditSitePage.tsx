import { Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { clientQuery } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { type SiteRecord, siteQuery } from '../../api/site.ts'
import { useUpdateSite } from '../../api/sites.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MayNotChange } from '../../ui/MayNotChange.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import classes from './form.module.css'
import { SiteDanger } from './SiteDanger.tsx'
import { SiteForm } from './SiteForm.tsx'
import { siteValues } from './site-values.ts'

export function EditSitePage() {
  const { siteId = '' } = useParams({ strict: false })
  const { mayChange } = useSession()
  const { data, error, refetch } = useQuery(siteQuery(siteId))
  if (!mayChange) return <MayNotChange />
  if (data !== undefined) return <Loaded site={data} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton height={480} className={classes.page} />
}

function Loaded({ site }: { site: SiteRecord }) {
  const { data: client } = useQuery(clientQuery(site.client_id))
  const update = useUpdateSite(site.id)
  const navigate = useNavigate()
  const page = `/clients/${site.client_id}`
  return (
    <div className={classes.page}>
      <PageHeader
        title="Site settings"
        parents={[
          { label: 'Clients & sites', to: '/clients' },
          { label: client?.name ?? '…', to: page },
          { label: site.name, to: `/sites/${site.id}` },
        ]}
      >
        {site.name}
      </PageHeader>
      <SiteForm
        initial={siteValues(site)}
        action="Save"
        cancelTo={page}
        isNew={false}
        onSave={async (body) => {
          await update.mutateAsync(body)
          notifications.show({ message: `${body.name} is saved` })
          await navigate({ to: page })
        }}
      />
      <SiteDanger site={site} />
    </div>
  )
}
