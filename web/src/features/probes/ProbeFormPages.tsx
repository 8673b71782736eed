import { Button, Select, Skeleton, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ArrowLeft, CircleHelp } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import {
  type ProbeRecord,
  type ProbeTypeRecord,
  probeQuery,
  probesQuery,
  probeTypesQuery,
  useFirstRun,
} from '../../api/probes.ts'
import { useMayChange, useSession } from '../../api/session.ts'
import { type SiteRecord, siteQuery, sitesQuery } from '../../api/sites.ts'
import { fieldLabel, missingOf } from '../../lib/site-fields.ts'
import { useLeadOn } from '../../lib/use-lead-on.ts'
import { useMayOpen } from '../../lib/use-may-open.ts'
import { useClosing } from '../../lib/use-unsaved.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { NoSitesToProbe } from '../../ui/NoSites.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { LockedPage, PendingPage } from '../../ui/PendingPage.tsx'
import { EmptyState, ErrorState, MayNotChange } from '../../ui/States.tsx'
import classes from './form.module.css'
import { NeedsBox, ProbeForm } from './ProbeForm.tsx'

/** Maximum number of options shown; typing finds the others. */
const SHOWN = 100

/** Creates a probe: choose the site, the type and the settings. */
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

function Choose({ types, sites: all }: { types: readonly ProbeTypeRecord[]; sites: readonly SiteRecord[] }) {
  const mayChangeOf = useMayChange()
  const sites = all.filter(({ client_id }) => mayChangeOf(client_id))
  const [siteId, setSite] = useUrlState('site', '')
  const [typeName, setType] = useUrlState('type', '', undefined, { push: true })
  const toTypes = useClosing(typeName !== '', () => setType(''))
  const leadOn = useLeadOn()
  const firstRun = useFirstRun()
  const { data: probes } = useQuery({ ...probesQuery(siteId), enabled: siteId !== '' })
  const site = sites.find(({ id }) => id === siteId)
  const type = types.find(({ probe_type }) => probe_type === typeName)
  if (sites.length === 0) return <NoSitesToProbe />
  return (
    <>
      <Select
        label="Site"
        placeholder="Which site do you want to check?"
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
            onClick={toTypes}
          >
            Another type
          </Button>
          <section className={classes.about}>
            <h2>{type.title}</h2>
            <p>{type.description}</p>
          </section>
          <NeedsBox type={type} site={site} />
          <ProbeForm
            key={type.probe_type}
            type={type}
            site={site}
            onSaved={({ id, is_active }) => {
              if (is_active) firstRun.mutate(id)
              return leadOn({ to: '/probes/$probeId', params: { probeId: id } })
            }}
          />
        </>
      )}
    </>
  )
}

interface Props {
  types: readonly ProbeTypeRecord[]
  site: SiteRecord
  probes: readonly ProbeRecord[]
  onPick: (type: string) => void
}

const KINDS = [
  {
    kind: 'data',
    title: 'What the site sends',
    text: 'Evaluates the events and tags it reports. No network requests.',
  },
  { kind: 'wire', title: 'What it depends on', text: 'Checks other systems over the network.' },
] as const

/** The types of probes, with what the site lacks for each. */
function TypeList({ types, site, probes, onPick }: Props) {
  return KINDS.map(({ kind, title, text }) => (
    <Kind key={kind} title={title} text={text}>
      {types
        .filter((type) => type.kind === kind)
        .map((type) => (
          <li key={type.probe_type}>
            <UnstyledButton className={classes.type} onClick={() => onPick(type.probe_type)}>
              <span className={classes.typeTitle}>{type.title}</span>
              <span className={classes.muted}>{type.description}</span>
              <Notes
                missing={missingOf(type.needs, site).map((fields) => fields.map(fieldLabel).join(' and '))}
                count={probes.filter(({ probe_type }) => probe_type === type.probe_type).length}
              />
            </UnstyledButton>
          </li>
        ))}
    </Kind>
  ))
}

function Kind({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={classes.kind} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p className={classes.muted}>{text}</p>
      <ul className={classes.types}>{children}</ul>
    </section>
  )
}

function Notes({ missing, count }: { missing: readonly string[]; count: number }) {
  return (
    <>
      {count > 0 && <span className={classes.has}>The site has {counted(count, 'probe')} of this type</span>}
      {missing.length > 0 && <span className={classes.lacks}>Needs: {missing.join(', or ')}</span>}
    </>
  )
}

/** Changes a probe. Its type and site stay as they are. */
export function EditProbePage() {
  const { probeId = '' } = useParams({ strict: false })
  const probe = useQuery(probeQuery(probeId))
  const site = useQuery({ ...siteQuery(probe.data?.site_id ?? ''), enabled: probe.data !== undefined })
  const mayOpen = useMayOpen(site.data?.client_id)
  const error = probe.error ?? site.error
  if (!mayOpen) return <LockedPage title="Edit probe" parents={[{ label: 'Probes', to: '/probes' }]} />
  if (probe.data !== undefined && site.data !== undefined)
    return <Loaded key={probe.data.id} probe={probe.data} site={site.data} />
  return (
    <div className={classes.page}>
      <PendingPage
        title="Edit probe"
        parents={[{ label: 'Probes', to: '/probes' }]}
        error={error}
        onRetry={() => void Promise.all([probe.refetch(), site.refetch()])}
        loading="Loading the probe"
      >
        <Skeleton height={480} />
      </PendingPage>
    </div>
  )
}

function Loaded({ probe, site }: { probe: ProbeRecord; site: SiteRecord }) {
  const { data: types, error, refetch } = useQuery(probeTypesQuery)
  const leadOn = useLeadOn()
  const type = types?.find(({ probe_type }) => probe_type === probe.probe_type)
  return (
    <div className={classes.page}>
      <PageHeader
        title="Edit probe"
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
            onSaved={({ id }) => leadOn({ to: '/probes/$probeId', params: { probeId: id } })}
          />
        </>
      ) : types !== undefined ? (
        <EmptyState icon={CircleHelp} title={`The type ${probe.probe_type} is not known here`}>
          Another version of Tagwarden made this probe. It can be paused or deleted.
        </EmptyState>
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={480} />
      )}
    </div>
  )
}
