import { Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError } from '../../api/client.ts'
import { type MaintenanceRecord, useChangeMaintenance, usePlanMaintenance } from '../../api/maintenance.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useFaultFocus } from '../../lib/use-fault-focus.ts'
import { ownZone } from '../../lib/zone.ts'
import type { Scope } from '../../ui/quiet/quiet.ts'
import { ScopePicker, scopeName, zoneOf } from '../../ui/quiet/ScopePicker.tsx'
import { blankValues, changes, creation, type FormValues, valuesOf } from './form.ts'
import { Preview } from './Preview.tsx'
import { OnceFields, WeeklyFields } from './ScheduleFields.tsx'

interface Props {
  opened: boolean
  onClose: () => void
  /** What is changed; null: a new one. */
  record: MaintenanceRecord | null
  /** What is chosen at first for a new one. */
  scope: Scope
}

/** Plans maintenance, or changes it: what it applies to and its kind stay. */
export function MaintenanceDialog(props: Props) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.record === null ? 'Plan maintenance' : 'Change maintenance'}
      centered
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
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
  const firstZone = zoneOf(record ?? first, directory) ?? ownZone()
  const form = useForm<FormValues>({
    initialValues:
      record === null ? blankValues(first, firstZone, Date.now()) : valuesOf(record, firstZone, Date.now()),
  })
  const { values } = form
  const zone = zoneOf(values.scope, directory) ?? ownZone()
  const said = {
    onSuccess: onClose,
    onError: (error: Error) => {
      if (error instanceof ApiError) form.setErrors(faultsOf(error))
    },
  }
  const error = plan.error ?? change.error
  const formRef = useFaultFocus(form.errors, error?.message ?? null)
  return (
    <form
      ref={formRef}
      onSubmit={form.onSubmit((sent) => {
        if (record === null) plan.mutate(creation(sent, zone), said)
        else change.mutate({ id: record.id, ...changes(sent, zone) }, said)
      })}
    >
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
        {error !== null && (
          <Text c="var(--critical-text)" size="sm" role="alert">
            {error.message}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={plan.isPending || change.isPending}>
            {record === null ? 'Plan it' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** What the service finds wrong, by the fields of the form. */
const faultsOf = ({ details }: ApiError): Record<string, string> =>
  Object.fromEntries(
    details.map(({ path, message }) => [/_id$/.test(path) ? 'scope' : path.slice(1).split('/')[0], message]),
  )

const text = (error: unknown): string | undefined => (typeof error === 'string' ? error : undefined)
