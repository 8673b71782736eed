import { Chip, Group, Input, NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { FormValues } from './form.ts'
import { lengthWords, WEEKDAYS } from './words.ts'

type Form = UseFormReturnType<FormValues>

const MINUTES_PER_WEEK = 10_080
/** Options that are drawn; typing finds the others. */
const SHOWN = 60
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export function OnceFields({ form, zone }: { form: Form; zone: string }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput type="datetime-local" label="From" description={zone} required {...form.getInputProps('starts_at')} />
      <TextInput type="datetime-local" label="Until" description={zone} required {...form.getInputProps('ends_at')} />
    </SimpleGrid>
  )
}

export function WeeklyFields({ form }: { form: Form }) {
  return (
    <>
      <Input.Wrapper label="Starts on" labelElement="div" error={form.errors.weekdays}>
        <Chip.Group
          multiple
          value={form.values.weekdays}
          onChange={(weekdays) => form.setFieldValue('weekdays', weekdays)}
        >
          <Group gap="xs" mt={4} role="group" aria-label="Starts on">
            {WEEKDAYS.map((name, n) => (
              <Chip key={name} value={String(n + 1)} size="xs">
                {name}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <TextInput type="time" label="At" required {...form.getInputProps('start')} />
        <NumberInput
          label={`Minutes (${lengthWords(form.values.duration_minutes)})`}
          min={1}
          max={MINUTES_PER_WEEK}
          step={30}
          allowDecimal={false}
          hideControls
          required
          value={form.values.duration_minutes}
          onChange={(value) => form.setFieldValue('duration_minutes', Number(value))}
          error={form.errors.duration_minutes}
        />
        <Select
          label="Time zone"
          data={ZONES}
          searchable
          limit={SHOWN}
          allowDeselect={false}
          {...form.getInputProps('timezone')}
        />
      </SimpleGrid>
    </>
  )
}
