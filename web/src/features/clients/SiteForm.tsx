import { Button, NumberInput, Select, Skeleton, Switch, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { useMemo, useState } from 'react'
import { clientQuery } from '../../api/clients.ts'
import { type SiteRecord, siteQuery, useCreateSite, useUpdateSite } from '../../api/sites.ts'
import { changedSince } from '../../lib/changed.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { TRACKING_FIELDS, type TrackingField } from '../../lib/site-fields.ts'
import { useLeadOn } from '../../lib/use-lead-on.ts'
import { useMayOpen } from '../../lib/use-may-open.ts'
import { ownZone } from '../../lib/zone.ts'
import { FormEnd } from '../../ui/FormEnd.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { LockedPage, PendingPage } from '../../ui/PendingPage.tsx'
import { SiteDanger } from './Danger.tsx'
import classes from './form.module.css'
import { emptySite, numberOf, type SiteValues, siteBody, siteValues, zonesWith } from './site-values.ts'

/** Creates a site, then opens its setup. */
export function NewSitePage() {
  const { clientId = '' } = useParams({ strict: false })
  const mayOpen = useMayOpen(clientId)
  const { data: client, error, refetch } = useQuery(clientQuery(clientId))
  const create = useCreateSite()
  const leadOn = useLeadOn()
  const [initial] = useState(() => emptySite(ownZone()))
  if (!mayOpen) return <LockedPage title="New site" parents={PARENTS} />
  if (client === undefined) {
    return <Pending title="New site" error={error} onRetry={() => void refetch()} />
  }
  return (
    <div className={classes.page}>
      <PageHeader
        title="New site"
        parents={[
          { label: 'Clients', to: '/clients' },
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
          await leadOn({ to: '/sites/$siteId/setup', params: { siteId: id } })
        }}
      />
    </div>
  )
}

export function EditSitePage() {
  const { siteId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(siteQuery(siteId))
  const mayOpen = useMayOpen(data?.client_id)
  if (!mayOpen) return <LockedPage title="Site settings" parents={PARENTS} />
  if (data !== undefined) return <Loaded key={data.id} site={data} />
  return <Pending title="Site settings" error={error} onRetry={() => void refetch()} />
}

const PARENTS = [{ label: 'Clients', to: '/clients' }]

function Pending(props: { title: string; error: Error | null; onRetry: () => void }) {
  return (
    <div className={classes.page}>
      <PendingPage {...props} parents={PARENTS} loading="Loading the form">
        <Skeleton height={480} />
      </PendingPage>
    </div>
  )
}

function Loaded({ site }: { site: SiteRecord }) {
  const [opened] = useState(() => siteBody(siteValues(site)))
  const { data: client } = useQuery(clientQuery(site.client_id))
  const queries = useQueryClient()
  const update = useUpdateSite(site.id)
  const leadOn = useLeadOn()
  const page = `/clients/${site.client_id}`
  return (
    <div className={classes.page}>
      <PageHeader
        title="Site settings"
        parents={[
          { label: 'Clients', to: '/clients' },
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
          const now = await queries.fetchQuery({ ...siteQuery(site.id), staleTime: 0 })
          await update.mutateAsync(changedSince(body, opened, siteBody(siteValues(now))))
          notifications.show({ message: `${body.name} is saved` })
          await leadOn({ to: page })
        }}
      />
      <SiteDanger site={site} />
    </div>
  )
}

interface Props {
  initial: SiteValues
  /** The button's text. */
  action: string
  cancelTo: string
  /** Whether the form offers to create the probes that fit. */
  isNew: boolean
  onSave: (body: ReturnType<typeof siteBody>, autoProbes: boolean) => Promise<unknown>
}

const GROUPS: readonly { title: string; about: string; fields: readonly TrackingField[] }[] = [
  {
    title: 'Tag server',
    about: 'Where the server container runs. Probes watch whether it answers, and what its host says.',
    fields: ['tag_server_url', 'hosting_a_container_id', 'hosting_b_container_id'],
  },
  {
    title: 'Tag Manager',
    about: 'Probes report new versions, rollbacks and previews that were left on the page.',
    fields: ['tag_manager_web_container_id', 'tag_manager_server_container_id'],
  },
  {
    title: 'Analytics and its export',
    about: 'A probe watches whether the export to BigQuery arrives, and is as large as usual.',
    fields: ['analytics_property_id', 'analytics_measurement_id', 'warehouse_project', 'warehouse_dataset'],
  },
  {
    title: 'Consent',
    about: 'A probe looks on the page for the consent platform and its defaults.',
    fields: ['cmp_provider'],
  },
  {
    title: 'Target',
    about: 'Sets an error budget for 30 days, shown on the page of the site. A probe notifies when it burns too fast.',
    fields: ['slo_target'],
  },
]

/** Maximum number of zones shown; typing finds the others. */
const SHOWN = 50

export function SiteForm({ initial, action, cancelTo, isNew, onSave }: Props) {
  const form = useForm<SiteValues>({
    initialValues: initial,
    validate: {
      slo_target: (text) => (Number.isNaN(numberOf(text)) ? 'Enter a number like 99.5' : null),
      average_order_value: (value) => (Number.isNaN(numberOf(String(value))) ? 'Enter a number like 79.50' : null),
    },
  })
  const [autoProbes, setAutoProbes] = useState(true)
  // A name and an address are enough to receive events, so hide the other fields of a new site.
  const [isWhole, setWhole] = useState(!isNew)
  const zones = useMemo(() => zonesWith(initial.timezone), [initial.timezone])
  const { formRef, onSubmit, isBusy, rest } = useSaving(form, (values) => onSave(siteBody(values), autoProbes))
  return (
    <form ref={formRef} className={classes.form} onSubmit={onSubmit} noValidate>
      <fieldset className={classes.group}>
        <legend>Site</legend>
        <div className={classes.pair}>
          <TextInput label="Name" withAsterisk placeholder="Shop" {...form.getInputProps('name')} />
          <TextInput
            label="Address"
            withAsterisk
            placeholder="https://shop.example.com"
            {...form.getInputProps('url')}
          />
          <Select
            label="Time zone"
            description="Days and hours of its reports follow it"
            searchable
            limit={SHOWN}
            data={zones}
            allowDeselect={false}
            nothingFoundMessage="No zone has this name"
            {...form.getInputProps('timezone')}
          />
        </div>
      </fieldset>
      {!isWhole && (
        <div>
          <Button
            variant="subtle"
            leftSection={<ChevronDown size={16} aria-hidden />}
            aria-expanded={false}
            onClick={() => setWhole(true)}
          >
            Tag server, containers and more
          </Button>
          <p className={classes.hint}>Each adds checks. They can be added in the settings of the site at any time.</p>
        </div>
      )}
      {(isWhole ? GROUPS : []).map(({ title, about, fields }) => (
        <fieldset key={title} className={classes.group}>
          <legend>{title}</legend>
          <p className={classes.about}>{about} All of it is optional.</p>
          <div className={classes.pair}>
            {fields.map((field) => (
              <TextInput
                key={field}
                label={TRACKING_FIELDS[field].label}
                description={TRACKING_FIELDS[field].description}
                placeholder={TRACKING_FIELDS[field].placeholder}
                {...form.getInputProps(field)}
              />
            ))}
          </div>
        </fieldset>
      ))}
      {isWhole && <Orders form={form} />}
      {isNew && (
        <Switch
          label="Also create the probes that fit"
          description="Every check that these fields allow, with its usual settings. They can be changed and deleted later"
          checked={autoProbes}
          onChange={(event) => setAutoProbes(event.currentTarget.checked)}
        />
      )}
      <FormEnd action={action} isBusy={isBusy} fault={rest}>
        <LinkButton to={cancelTo} variant="default" ignoreBlocker>
          Cancel
        </LinkButton>
      </FormEnd>
    </form>
  )
}

function Orders({ form }: { form: UseFormReturnType<SiteValues> }) {
  return (
    <fieldset className={classes.group}>
      <legend>Orders</legend>
      <p className={classes.about}>To estimate what lost purchases were worth. All of it is optional.</p>
      <div className={classes.pair}>
        <NumberInput
          label="Average order value"
          description="What an order is worth"
          placeholder="79"
          min={0}
          hideControls
          {...form.getInputProps('average_order_value')}
        />
        <TextInput
          label="Currency"
          description="A code of three letters"
          placeholder="EUR"
          {...form.getInputProps('currency')}
        />
      </div>
    </fieldset>
  )
}
