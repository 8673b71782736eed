import { NumberInput, Select, Skeleton, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { LockKeyhole } from 'lucide-react'
import { useState } from 'react'
import {
  type ClientRecord,
  type CreateClient,
  clientQuery,
  useCreateClient,
  useUpdateClient,
} from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { changedSince } from '../../lib/changed.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { useLeadOn } from '../../lib/use-lead-on.ts'
import { useMayOpen } from '../../lib/use-may-open.ts'
import { counted } from '../../lib/words.ts'
import { FormEnd } from '../../ui/FormEnd.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { LockedPage, PendingPage } from '../../ui/PendingPage.tsx'
import { EmptyState, MayNotChange } from '../../ui/States.tsx'
import { type ClientValues, clientBody, clientValues, EMPTY_CLIENT, PLANS } from './client-values.ts'
import { ClientDanger } from './Danger.tsx'
import classes from './form.module.css'

export function NewClientPage() {
  const { mayAddClients, mayChange } = useSession()
  const create = useCreateClient()
  const leadOn = useLeadOn()
  return (
    <div className={classes.page}>
      <PageHeader title="New client" parents={[{ label: 'Clients', to: '/clients' }]}>
        A company or project. Its sites send under one plan, and its team is notified when something breaks.
      </PageHeader>
      {mayAddClients ? (
        <ClientForm
          initial={EMPTY_CLIENT}
          action="Create the client"
          cancelTo="/clients"
          onSave={async (body) => {
            const { id } = await create.mutateAsync(body)
            await leadOn({ to: '/clients/$clientId', params: { clientId: id } })
          }}
        />
      ) : mayChange ? (
        <EmptyState icon={LockKeyhole} title="You may not add clients">
          Only an editor of all clients can do this: ask an owner of all clients, or sign in with the admin key.
        </EmptyState>
      ) : (
        <MayNotChange />
      )}
    </div>
  )
}

export function EditClientPage() {
  const { clientId = '' } = useParams({ strict: false })
  const mayOpen = useMayOpen(clientId)
  const { data, error, refetch } = useQuery(clientQuery(clientId))
  if (!mayOpen) return <LockedPage title="Edit client" parents={PARENTS} />
  // The key resets the form when a link in the rail's warning goes from one client's form to another's.
  if (data !== undefined) return <Loaded key={data.id} client={data} />
  return (
    <div className={classes.page}>
      <PendingPage
        title="Edit client"
        parents={PARENTS}
        error={error}
        onRetry={() => void refetch()}
        loading="Loading the client"
      >
        <Skeleton height={480} />
      </PendingPage>
    </div>
  )
}

const PARENTS = [{ label: 'Clients', to: '/clients' }]

function Loaded({ client }: { client: ClientRecord }) {
  const [opened] = useState(() => clientBody(clientValues(client)))
  const queries = useQueryClient()
  const update = useUpdateClient(client.id)
  const leadOn = useLeadOn()
  const page = `/clients/${client.id}`
  return (
    <div className={classes.page}>
      <PageHeader
        title="Edit client"
        parents={[
          { label: 'Clients', to: '/clients' },
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
          const now = await queries.fetchQuery({ ...clientQuery(client.id), staleTime: 0 })
          await update.mutateAsync(changedSince(body, opened, clientBody(clientValues(now))))
          await leadOn({ to: page })
        }}
      />
      <ClientDanger client={client} />
    </div>
  )
}

interface Props {
  initial: ClientValues
  /** The button's text. */
  action: string
  cancelTo: string
  onSave: (body: CreateClient) => Promise<unknown>
}

const DEFAULT_PLAN = { value: '', label: "The service's own default (DEFAULT_PLAN)" }
const REMINDERS = [
  { value: '', label: 'None' },
  { value: '30', label: 'Every 30 minutes' },
  { value: '60', label: 'Every hour' },
  { value: '240', label: 'Every 4 hours' },
  { value: '1440', label: 'Every day' },
]
const DIGESTS = [
  { value: 'off', label: 'None' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
]

export function ClientForm({ initial, action, cancelTo, onSave }: Props) {
  const form = useForm<ClientValues>({ initialValues: initial })
  const { plan, reminder_minutes } = form.values
  const { mayAddClients } = useSession()
  const { formRef, onSubmit, isBusy, rest } = useSaving(form, (values) => onSave(clientBody(values)))
  return (
    <form ref={formRef} className={classes.form} onSubmit={onSubmit} noValidate>
      <fieldset className={classes.group}>
        <legend>Client</legend>
        <TextInput label="Name" withAsterisk {...form.getInputProps('name')} />
        <Select
          label="Plan"
          description={`${PLANS.find(({ value }) => value === plan)?.limits ?? 'What its sites may send together'}${mayAddClients ? '' : '. Only an editor of all clients can change it'}`}
          data={initial.plan === '' ? [DEFAULT_PLAN, ...PLANS] : [...PLANS]}
          allowDeselect={false}
          disabled={!mayAddClients}
          {...form.getInputProps('plan')}
        />
        {plan === 'enterprise' && (
          <div className={classes.pair}>
            <NumberInput
              label="Requests a second"
              disabled={!mayAddClients}
              placeholder="without a limit"
              min={1}
              clampBehavior="none"
              allowDecimal={false}
              thousandSeparator=","
              {...form.getInputProps('requests_per_second')}
            />
            <NumberInput
              label="Events a month"
              disabled={!mayAddClients}
              placeholder="without a limit"
              min={1}
              clampBehavior="none"
              allowDecimal={false}
              thousandSeparator=","
              {...form.getInputProps('events_per_month')}
            />
          </div>
        )}
      </fieldset>
      <fieldset className={classes.group}>
        <legend>Notifications</legend>
        <TextInput
          label="E-mail address"
          description="Alerts and digests go there"
          type="text"
          inputMode="email"
          autoComplete="off"
          {...form.getInputProps('email')}
        />
        <TextInput
          label="Chat webhook"
          description="Of Slack, Teams, Discord, Google Chat, or any address that accepts JSON. Keep it secret"
          placeholder="https://hooks.slack.com/services/…"
          autoComplete="off"
          {...form.getInputProps('chat_webhook')}
        />
        <div className={classes.pair}>
          <Select
            label="Reminders"
            description="While an alert is open and no one has acknowledged it"
            data={withNow(reminder_minutes)}
            allowDeselect={false}
            {...form.getInputProps('reminder_minutes')}
          />
          <Select
            label="Digest"
            description="A summary by e-mail"
            data={DIGESTS}
            allowDeselect={false}
            {...form.getInputProps('digest')}
          />
        </div>
        <div className={classes.pair}>
          <TextInput
            type="time"
            label="Quiet from"
            description="Warnings wait; critical alerts do not"
            {...form.getInputProps('quiet_from')}
          />
          <TextInput
            type="time"
            label="Quiet until"
            description="Local time of each site; both empty: never"
            {...form.getInputProps('quiet_to')}
          />
        </div>
        <Switch
          label="Also when a warning becomes critical"
          {...form.getInputProps('notify_escalated', { type: 'checkbox' })}
        />
        <Switch
          label="Also when an alert is resolved"
          {...form.getInputProps('notify_resolved', { type: 'checkbox' })}
        />
      </fieldset>
      <FormEnd action={action} isBusy={isBusy} fault={rest}>
        <LinkButton to={cancelTo} variant="default" ignoreBlocker>
          Cancel
        </LinkButton>
      </FormEnd>
    </form>
  )
}

/** The usual intervals, and the current one. */
const withNow = (minutes: string) =>
  REMINDERS.some(({ value }) => value === minutes)
    ? REMINDERS
    : [...REMINDERS, { value: minutes, label: `Every ${counted(Number(minutes), 'minute')}` }]
