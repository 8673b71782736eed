import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { type OnCallRecord, useAddOverride } from '../../api/on-call.ts'
import { faultsOf, useFaultFocus } from '../../lib/form-faults.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'

interface Props {
  clientId: string
  rotation: NonNullable<OnCallRecord['rotation']>
  onClose: () => void
}

const DAY = 86_400_000
const FIELDS = ['person_id', 'starts_at', 'ends_at']

/** Someone of the rotation stands in for a while. */
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
  const [rest, setRest] = useState<string | null>(null)
  const formRef = useFaultFocus(form.errors, rest)
  const isoOf = (wall: string) => new Date(momentOf(wall, timezone) ?? 0).toISOString()
  const submit = form.onSubmit(({ person_id, starts_at, ends_at }) => {
    setRest(null)
    add.mutate(
      { person_id, starts_at: isoOf(starts_at), ends_at: isoOf(ends_at) },
      {
        onSuccess: onClose,
        onError: (error) => {
          const faults = faultsOf(error, FIELDS)
          form.setErrors(faults.fields)
          setRest(faults.rest)
        },
      },
    )
  })
  return (
    <Modal opened onClose={onClose} title="Add an override" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form ref={formRef} onSubmit={submit} noValidate>
        <Stack gap="md">
          <Select
            label="Who stands in"
            data={people.map(({ id, name }) => ({ value: id, label: name }))}
            allowDeselect={false}
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
          {rest !== null && (
            <Text c="var(--critical-text)" size="sm" role="alert">
              {rest}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending}>
              Add the override
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
