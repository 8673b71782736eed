import { Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type OnCallRecord, useAddOverride } from '../../api/on-call.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { DialogEnd } from '../../ui/DialogEnd.tsx'

interface Props {
  clientId: string
  rotation: NonNullable<OnCallRecord['rotation']>
  onClose: () => void
}

const DAY = 86_400_000

/** Adds an override, with which someone in the rotation stands in for a while. */
export function OverrideForm({ clientId, rotation, onClose }: Props) {
  const add = useAddOverride(clientId)
  const { people, timezone } = rotation
  const timeFault = (wall: string) => (momentOf(wall, timezone) === null ? 'Enter a date and a time' : null)
  const form = useForm({
    initialValues: {
      person_id: people[0]?.id ?? '',
      starts_at: wallTime(Date.now(), timezone),
      ends_at: wallTime(Date.now() + DAY, timezone),
    },
    validate: { starts_at: timeFault, ends_at: timeFault },
  })
  const isoOf = (wall: string) => new Date(momentOf(wall, timezone) ?? 0).toISOString()
  const { formRef, onSubmit, isBusy, rest } = useSaving(form, async ({ person_id, starts_at, ends_at }) => {
    await add.mutateAsync({ person_id, starts_at: isoOf(starts_at), ends_at: isoOf(ends_at) })
    onClose()
  })
  return (
    <Dialog onClose={onClose} title="Add an override">
      <form ref={formRef} onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <Select
            label="Who stands in"
            data={people.map(({ id, name }) => ({ value: id, label: name }))}
            allowDeselect={false}
            data-autofocus
            {...form.getInputProps('person_id')}
          />
          <TextInput
            type="datetime-local"
            label="From"
            description={timezone}
            required
            {...form.getInputProps('starts_at')}
          />
          <TextInput
            type="datetime-local"
            label="Until"
            description={timezone}
            required
            {...form.getInputProps('ends_at')}
          />
          <DialogEnd action="Add the override" isBusy={isBusy} onClose={onClose} fault={rest} />
        </Stack>
      </form>
    </Dialog>
  )
}
