import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { CircleHelp } from 'lucide-react'
import { type ProbeRecord, probeQuery, probeTypesQuery } from '../../api/probes.ts'
import { useSession } from '../../api/session.ts'
import { type SiteRecord, siteQuery } from '../../api/site.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MayNotChange } from '../../ui/MayNotChange.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import classes from './form.module.css'
import { NeedsBox } from './NeedsBox.tsx'
import { ProbeForm } from './ProbeForm.tsx'

/** Changes a probe. Its type and site stay as they are. */
export function EditProbePage() {
  const { probeId = '' } = useParams({ strict: false })
  const { mayChange } = useSession()
  const probe = useQuery(probeQuery(probeId))
  const site = useQuery({ ...siteQuery(probe.data?.site_id ?? ''), enabled: probe.data !== undefined })
  const error = probe.error ?? site.error
  if (!mayChange) return <MayNotChange />
  if (probe.data !== undefined && site.data !== undefined) return <Loaded probe={probe.data} site={site.data} />
  if (error !== null)
    return <ErrorState error={error} onRetry={() => void Promise.all([probe.refetch(), site.refetch()])} />
  return <Skeleton height={480} className={classes.page} />
}

function Loaded({ probe, site }: { probe: ProbeRecord; site: SiteRecord }) {
  const { data: types, error, refetch } = useQuery(probeTypesQuery)
  const navigate = useNavigate()
  const type = types?.find(({ probe_type }) => probe_type === probe.probe_type)
  return (
    <div className={classes.page}>
      <PageHeader
        title="Edit"
        parents={[
          { label: 'Probes', to: '/probes' },
          { label: probe.name, to: `/probes/${probe.id}` },
        ]}
      >
        {probe.name} of {site.name}
        {type === undefined ? '' : `: ${type.description}`}
      </PageHeader>
      {type !== undefined ? (
        <>
          <NeedsBox type={type} site={site} />
          <ProbeForm
            type={type}
            site={site}
            probe={probe}
            onSaved={({ id }) => navigate({ to: '/probes/$probeId', params: { probeId: id } })}
          />
        </>
      ) : types !== undefined ? (
        <EmptyState icon={CircleHelp} title={`The type ${probe.probe_type} is not known here`}>
          Another version of Tagwarden made this probe. It can be switched off or deleted.
        </EmptyState>
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={480} />
      )}
    </div>
  )
}
