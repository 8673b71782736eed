import { NumberInput, PasswordInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type OwnChannelRecord, ownChannelsQuery, useSaveOwnChannel } from '../../api/channels.ts'
import { changedSince } from '../../lib/changed.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'
import { type ChannelValues, channelBody, channelValues, KINDS, type Kind } from './channel-values.ts'

interface Props {
  clientId: string
  /** Null for a new one. */
  channel: OwnChannelRecord | null
  onClose: () => void
}

const KIND_OPTIONS = Object.entries(KINDS).map(([value, { title }]) => ({ value, label: title }))
const SEVERITIES = [
  { value: 'warning', label: 'Warnings and critical alerts' },
  { value: 'critical', label: 'Critical alerts only' },
]

/** Adds or changes a channel of a client. The address is secret and never shown; left empty, it stays as it is. */
export function ChannelForm({ clientId, channel, onClose }: Props) {
  const save = useSaveOwnChannel(clientId)
  const form = useForm<ChannelValues>({ initialValues: channelValues(channel) })
  const { kind } = form.values
  const { address, help, extra, isForPeople } = KINDS[kind]
  const isNew = channel === null
  const queries = useQueryClient()
  const [opened] = useState(() => channelBody(channelValues(channel), isNew))
  const isField = typeof channel?.field === 'string'
  const { formRef, onSubmit, isBusy, rest } = useSaving(form, async (values) => {
    const body = channelBody(values, isNew)
    if (isNew) await save.mutateAsync({ id: null, body })
    else {
      const all = await queries.fetchQuery({ ...ownChannelsQuery(clientId), staleTime: 0 })
      const now = channelValues(all.find(({ id }) => id === channel.id) ?? channel)
      await save.mutateAsync({ id: channel.id, body: changedSince(body, opened, channelBody(now, isNew)) })
    }
    onClose()
  })
  return (
    <Dialog onClose={onClose} title={isNew ? 'Add a channel' : `Edit the channel ${channel.name}`}>
      <form ref={formRef} onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          {isNew && (
            <Select
              label="Kind"
              data={KIND_OPTIONS}
              allowDeselect={false}
              data-autofocus
              value={kind}
              onChange={(value) => form.setFieldValue('kind', (value ?? 'chat') as Kind)}
            />
          )}
          {!isField && (
            <TextInput label="Name" required maxLength={200} data-autofocus {...form.getInputProps('name')} />
          )}
          <TextInput
            label={address}
            data-autofocus
            description={isNew ? help : `${help}. Leave it empty to keep ${channel.address ?? 'it as it is'}`}
            required={isNew}
            autoComplete="off"
            {...form.getInputProps('address')}
          />
          {extra === 'secret' && !isField && (
            <PasswordInput
              label="Secret"
              description={isNew ? 'Signs its requests; empty: WEBHOOK_SECRET does' : 'Only together with the address'}
              autoComplete="new-password"
              visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
              {...form.getInputProps('secret')}
            />
          )}
          {extra === 'endpoint' && (
            <TextInput
              label="Endpoint"
              description="Empty: the usual one. Another region or product has its own"
              {...form.getInputProps('endpoint')}
            />
          )}
          {isField ? (
            <Text size="sm" c="dimmed">
              It is a field of the client: always switched on, for warnings and critical alerts.
            </Text>
          ) : (
            <>
              <Select
                label="Sends"
                data={SEVERITIES}
                allowDeselect={false}
                {...form.getInputProps('minimum_severity')}
              />
              {isForPeople && form.values.minimum_severity === 'warning' && (
                <NumberInput
                  label="Warnings wait"
                  description="How long a warning must last, in minutes; 0: not at all. Empty: the default of this server"
                  min={0}
                  max={1_440}
                  allowDecimal={false}
                  {...form.getInputProps('warnings_after_minutes')}
                />
              )}
              <Switch label="Switched on" {...form.getInputProps('is_active', { type: 'checkbox' })} />
            </>
          )}
          <DialogEnd action={isNew ? 'Add the channel' : 'Save'} isBusy={isBusy} onClose={onClose} fault={rest} />
        </Stack>
      </form>
    </Dialog>
  )
}
