import '@mantine/core/styles/Chip.layer.css'
import {
  Chip,
  Group,
  Input,
  Modal,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type MaintenanceRecord,
  maintenanceQuery,
  useChangeMaintenance,
  usePlanMaintenance,
} from '../../api/maintenance.ts'
import { useNow } from '../../lib/external.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useClosing } from '../../lib/use-unsaved.ts'
import { ownZone } from '../../lib/zone.ts'
import { zoneHint } from '../../lib/zone-hint.ts'
import { DialogEnd } from '../../ui/Dialog.tsx'
import type { Scope } from '../../ui/mute/mutes.ts'
import { ScopePicker } from '../../ui/mute/ScopePicker.tsx'
import { scopeName, zoneOf } from '../../ui/mute/scope.ts'
import { blankValues, changes, creation, type FormValues, scheduleOf, valuesOf } from './form.ts'
import { lengthWords, MINUTES_PER_WEEK, occurrencesIn, WEEKDAYS, windowWords } from './schedule.ts'

interface Props {
  opened: boolean
  onClose: () => void
  /** The record to change; null for a new one. */
  record: MaintenanceRecord | null
  /** The initial scope of a new one. */
  scope: Scope
}

/** Plans maintenance or changes it; its scope and kind cannot change. */
export function MaintenanceDialog(props: Props) {
  const close = useClosing(props.opened, props.onClose)
  return (
    <Modal
      opened={props.opened}
      onClose={close}
      title={props.record === null ? 'Plan maintenance' : 'Change maintenance'}
      size="lg"
    >
      <Form {...props} key={props.record?.id} />
    </Modal>
  )
}

const KINDS = [
  { value: 'once' as const, label: 'Once' },
  { value: 'weekly' as const, label: 'Every week' },
]

function Form({ record, scope: first, onClose }: Props) {
  const directory = useDirectory()
  const plan = usePlanMaintenance()
  const change = useChangeMaintenance()
  const [firstZone] = useState(() => zoneOf(record ?? first, directory) ?? ownZone())
  const form = useForm<FormValues>({
    initialValues:
      record === null ? blankValues(first, firstZone, Date.now()) : valuesOf(record, firstZone, Date.now()),
  })
  const { values } = form
  // The directory, and with it the site's zone, may load later: times already shown must stay in their zone.
  const zone = record === null ? (zoneOf(values.scope, directory) ?? ownZone()) : firstZone
  const queries = useQueryClient()
  const [opened] = useState(() => ({ ...form.getInitialValues() }))
  const { formRef, onSubmit, isBusy, rest } = useSaving(
    form,
    async (sent) => {
      if (record === null) await plan.mutateAsync(creation(sent, zone))
      else {
        const { id } = record
        const all = await queries.fetchQuery({ ...maintenanceQuery(false), staleTime: 0 })
        const now = valuesOf(all.find((one) => one.id === id) ?? record, zone, Date.now())
        await change.mutateAsync({ id, ...changes(sent, opened, now, zone) })
      }
      onClose()
    },
    (sent) => [...Object.keys(sent), ...Object.keys(SCOPE_FIELDS)],
    SCOPE_FIELDS,
  )
  return (
    <form ref={formRef} onSubmit={onSubmit}>
      <Stack gap="lg">
        <TextInput
          label="What is done"
          placeholder="Move of the tag server"
          required
          data-autofocus
          {...form.getInputProps('title')}
        />
        {record === null ? (
          <ScopePicker
            value={values.scope}
            onChange={(scope) => {
              form.setFieldValue('scope', scope)
              form.setFieldValue('timezone', zoneOf(scope, directory) ?? ownZone())
            }}
            error={text(form.errors.scope)}
          />
        ) : (
          <Text size="sm">Of {scopeName(record, directory)}</Text>
        )}
        <SegmentedControl
          aria-label="How often"
          data={KINDS}
          value={values.kind}
          onChange={(kind) => form.setFieldValue('kind', kind)}
          disabled={record !== null}
          transitionDuration={0}
        />
        {values.kind === 'once' ? <OnceFields form={form} zone={zone} /> : <WeeklyFields form={form} />}
        <Preview values={values} zone={zone} />
        <DialogEnd action={record === null ? 'Plan it' : 'Save'} isBusy={isBusy} onClose={onClose} fault={rest} />
      </Stack>
    </form>
  )
}

/** One field of the form stands for all three. */
const SCOPE_FIELDS = { client_id: 'scope', site_id: 'scope', probe_id: 'scope' }

const text = (error: unknown): string | undefined => (typeof error === 'string' ? error : undefined)

type MaintenanceForm = UseFormReturnType<FormValues>

/** Maximum number of options shown; typing finds the others. */
const SHOWN = 60
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

function OnceFields({ form, zone }: { form: MaintenanceForm; zone: string }) {
  const { starts_at, ends_at } = form.values
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput
        type="datetime-local"
        label="From"
        description={zoneHint(starts_at, zone)}
        required
        {...form.getInputProps('starts_at')}
      />
      <TextInput
        type="datetime-local"
        label="Until"
        description={zoneHint(ends_at, zone)}
        required
        {...form.getInputProps('ends_at')}
      />
    </SimpleGrid>
  )
}

function WeeklyFields({ form }: { form: MaintenanceForm }) {
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

/** Further ahead than maintenance can be planned, ms. */
const AHEAD = 400 * 86_400_000
const TWO_WEEKS = 14 * 86_400_000

/** When the maintenance will be, by the current input. */
function Preview({ values, zone }: { values: FormValues; zone: string }) {
  const now = useNow()
  const ahead = values.kind === 'once' ? AHEAD : TWO_WEEKS
  const [next] = occurrencesIn(scheduleOf(values, zone), { from: now, to: now + ahead })
  const inZone = values.kind === 'once' ? zone : values.timezone
  return (
    <Text size="sm" c="dimmed" role="status">
      {next === undefined
        ? 'As entered, this never takes effect.'
        : `${next.from <= now ? 'Muted now' : 'Next'}: ${windowWords(
            { starts_at: new Date(next.from).toISOString(), ends_at: new Date(next.to).toISOString() },
            inZone,
          )}`}
    </Text>
  )
}
