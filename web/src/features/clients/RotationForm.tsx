import { Button, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { ownChannelsQuery } from '../../api/channels.ts'
import { type OnCallRecord, onCallQuery, useSetOnCall } from '../../api/on-call.ts'
import { changedSince } from '../../lib/changed.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { ownZone, wallTime } from '../../lib/zone.ts'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'
import classes from './on-call.module.css'
import { NEW_PERSON, type RotationValues, rotationBody, rotationValues, WEEKDAYS } from './on-call-values.ts'
import { zonesWith } from './site-values.ts'

interface Props {
  clientId: string
  /** Null for a new one. */
  rotation: OnCallRecord['rotation']
  onClose: () => void
}

/** Maximum number of zones shown; typing finds the others. */
const SHOWN = 50
const MOST_PEOPLE = 20

/** Edits the order in which people are on call, and when they hand over. */
export function RotationForm({ clientId, rotation, onClose }: Props) {
  const save = useSetOnCall(clientId)
  const [initial] = useState(() => {
    const zone = ownZone()
    return rotationValues(rotation, zone, wallTime(Date.now(), zone).slice(0, 10))
  })
  const form = useForm<RotationValues>({ initialValues: initial })
  const [opened] = useState(() => rotationBody(initial))
  const queries = useQueryClient()
  const zones = useMemo(() => zonesWith(initial.timezone), [initial.timezone])
  const { formRef, onSubmit, isBusy, rest } = useSaving(
    form,
    async (values) => {
      const body = rotationBody(values)
      const { rotation: found } = await queries.fetchQuery({ ...onCallQuery(clientId), staleTime: 0 })
      const now = found && rotationBody(rotationValues(found, '', ''))
      // It is saved as a whole: what someone else has changed meanwhile stays.
      await save.mutateAsync(now === null ? body : { ...now, ...changedSince(body, opened, now) })
      onClose()
    },
    (values) => [
      ...values.people.flatMap((_, index) =>
        ['name', 'email', 'channel_id'].map((field) => `people.${index}.${field}`),
      ),
      ...Object.keys(values),
    ],
  )
  return (
    <Dialog onClose={onClose} title={rotation === null ? 'Set up a rotation' : 'Edit the rotation'} size="lg">
      <form ref={formRef} onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <Text size="md">
            One person a week, in this order. Each is reached by an e-mail address, a channel, or both.
          </Text>
          <People form={form} clientId={clientId} />
          <Select
            label="Hand-over on"
            data={WEEKDAYS.map((label, index) => ({ value: String(index + 1), label }))}
            allowDeselect={false}
            {...form.getInputProps('handover_weekday')}
          />
          <TextInput type="time" label="At" required {...form.getInputProps('handover_time')} />
          <Select
            label="Time zone"
            searchable
            limit={SHOWN}
            data={zones}
            allowDeselect={false}
            nothingFoundMessage="No zone has this name"
            {...form.getInputProps('timezone')}
          />
          <TextInput
            type="date"
            label="First person's week"
            description="Any day in that week"
            required
            {...form.getInputProps('starts_on')}
          />
          <NumberInput
            label="Escalate after"
            description="Minutes without acknowledgement until the next person is notified; empty: never"
            min={5}
            max={1_440}
            allowDecimal={false}
            hideControls
            {...form.getInputProps('escalate_after_minutes')}
          />
          <DialogEnd action="Save" isBusy={isBusy} onClose={onClose} fault={rest} />
        </Stack>
      </form>
    </Dialog>
  )
}

function People({ form, clientId }: { form: UseFormReturnType<RotationValues>; clientId: string }) {
  const { data: channels = [] } = useQuery(ownChannelsQuery(clientId))
  const options = channels.filter(({ field }) => field === null).map(({ id, name }) => ({ value: id, label: name }))
  const { people } = form.values
  return (
    <>
      {people.map(({ id }, index) => (
        // A person who is not saved yet has no id, so the index must do.
        <fieldset key={id === '' ? index : id} className={classes.person}>
          <legend>Person {index + 1}</legend>
          <TextInput
            label="Name"
            required
            maxLength={200}
            data-autofocus
            {...form.getInputProps(`people.${index}.name`)}
          />
          <TextInput label="E-mail" maxLength={254} {...form.getInputProps(`people.${index}.email`)} />
          {options.length > 0 && (
            <Select
              label="Channel"
              clearable
              data={options}
              value={people[index]?.channel_id || null}
              error={form.errors[`people.${index}.channel_id`]}
              onChange={(value) => form.setFieldValue(`people.${index}.channel_id`, value ?? '')}
            />
          )}
          <div className={classes.moves}>
            <Button
              size="compact-sm"
              variant="subtle"
              disabled={index === 0}
              aria-label={`Move person ${index + 1} up`}
              onClick={({ currentTarget }) => {
                const fields = currentTarget.form?.getElementsByTagName('fieldset')
                flushSync(() => form.reorderListItem('people', { from: index, to: index - 1 }))
                // At the top the "up" button is disabled, so focus the person's name there; elsewhere follow the moved person.
                const next = fields?.[index - 1]?.querySelector<HTMLElement>(
                  index === 1 ? 'input' : '[aria-label$=" up"]',
                )
                next?.focus()
              }}
            >
              Up
            </Button>
            <Button
              size="compact-sm"
              variant="subtle"
              disabled={people.length === 1}
              aria-label={`Remove person ${index + 1}`}
              onClick={({ currentTarget }) => {
                const fields = currentTarget.form?.getElementsByTagName('fieldset')
                flushSync(() => form.removeListItem('people', index))
                // The focused button was removed with the person.
                fields?.[Math.min(index, fields.length - 1)]?.querySelector('input')?.focus()
              }}
            >
              Remove
            </Button>
          </div>
        </fieldset>
      ))}
      {form.errors.people !== undefined && (
        <Text c="var(--critical-text)" size="sm" role="alert">
          People: {form.errors.people}
        </Text>
      )}
      <div>
        <Button
          variant="default"
          leftSection={<Plus size={16} aria-hidden />}
          disabled={people.length >= MOST_PEOPLE}
          onClick={() => form.insertListItem('people', NEW_PERSON)}
        >
          Add a person
        </Button>
      </div>
    </>
  )
}
