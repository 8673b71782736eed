import { Button, Select, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { type ProbeTypeRecord, probesQuery, probeTypesQuery, useFirstRun } from '../../api/probes.ts'
import { useSession } from '../../api/session.ts'
import { type SiteRecord, sitesQuery } from '../../api/sites.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MayNotChange } from '../../ui/MayNotChange.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import classes from './form.module.css'
import { NeedsBox } from './NeedsBox.tsx'
import { ProbeForm } from './ProbeForm.tsx'
import { TypeList } from './TypeList.tsx'

/** Options that are drawn; typing finds the others. */
const SHOWN = 100

/** Which site, what to check there, and how. */
export function NewProbePage() {
  const { mayChange } = useSession()
  const types = useQuery(probeTypesQuery)
  const sites = useQuery(sitesQuery())
  const error = types.error ?? sites.error
  const parents = [{ label: 'Probes', to: '/probes' }]
  return (
    <div className={classes.page}>
      <PageHeader title="Add a probe" parents={parents}>
        A probe checks one thing of one site at regular intervals, and opens an alert when it is bad.
      </PageHeader>
      {!mayChange ? (
        <MayNotChange />
      ) : types.data !== undefined && sites.data !== undefined ? (
        <Choose types={types.data} sites={sites.data} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void Promise.all([types.refetch(), sites.refetch()])} />
      ) : (
        <Skeleton height={320} />
      )}
    </div>
  )
}

function Choose({ types, sites }: { types: readonly ProbeTypeRecord[]; sites: readonly SiteRecord[] }) {
  const [siteId, setSite] = useUrlState('site', '')
  const [typeName, setType] = useUrlState('type', '', undefined, { push: true })
  const navigate = useNavigate()
  const firstRun = useFirstRun()
  const { data: probes } = useQuery({ ...probesQuery(siteId), enabled: siteId !== '' })
  const site = sites.find(({ id }) => id === siteId)
  const type = types.find(({ probe_type }) => probe_type === typeName)
  return (
    <>
      <Select
        label="Site"
        placeholder="Which site is to be checked?"
        searchable
        limit={SHOWN}
        nothingFoundMessage="No site has this name"
        data={sites.map(({ id, name }) => ({ value: id, label: name }))}
        value={site?.id ?? null}
        onChange={(id) => setSite(id ?? '')}
        className={classes.site}
      />
      {site !== undefined && type === undefined && (
        <TypeList types={types} site={site} probes={probes ?? []} onPick={setType} />
      )}
      {site !== undefined && type !== undefined && (
        <>
          <Button
            variant="subtle"
            size="xs"
            className={classes.back}
            leftSection={<ArrowLeft size={16} aria-hidden />}
            onClick={() => setType('')}
          >
            Another type
          </Button>
          <section className={classes.about}>
            <h2>{type.title}</h2>
            <p>{type.description}</p>
          </section>
          <NeedsBox type={type} site={site} />
          <ProbeForm
            key={`${site.id} ${type.probe_type}`}
            type={type}
            site={site}
            onSaved={({ id, is_active }) => {
              if (is_active) firstRun.mutate(id)
              return navigate({ to: '/probes/$probeId', params: { probeId: id } })
            }}
          />
        </>
      )}
    </>
  )
}
