import { Button, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import {
  type OnCallRecord,
  onCallQuery,
  useAddOverride,
  useDeleteOverride,
  useRemoveOnCall,
} from '../../api/on-call.ts'
import { useSession } from '../../api/session.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { exact } from '../../lib/words.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import { zoneHint } from '../../lib/zone-hint.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited } from '../../ui/States.tsx'
import page from './clients.module.css'
import classes from './on-call.module.css'
import { WEEKDAYS } from './on-call-values.ts'
import { RotationForm } from './RotationForm.tsx'

/** A client's on-call rotation and the person on call. */
export function OnCall({ clientId }: { clientId: string }) {
  const { mayChange } = useSession()
  const { data, error, refetch } = useQuery(onCallQuery(clientId))
  const [isEditing, setEditing] = useState(false)
  return (
    <section className={page.section} aria-labelledby="on-call">
      <div className={page.sectionHead}>
        <h2 id="on-call">On call</h2>
        {mayChange && data !== undefined && (
          <Button variant="default" leftSection={<Pencil size={16} aria-hidden />} onClick={() => setEditing(true)}>
            {data.rotation === null ? 'Set up a rotation' : 'Edit the rotation'}
          </Button>
        )}
      </div>
      <div className={page.panel}>
        {data === undefined ? (
          <Awaited error={error} onRetry={() => void refetch()} height={64} />
        ) : data.rotation === null ? (
          <p className={page.muted}>
            No one. With a rotation, messages and incidents say who is responsible this week, and anything that no one
            acknowledges goes to the next person.
          </p>
        ) : (
          <Plan clientId={clientId} plan={data} rotation={data.rotation} mayChange={mayChange} />
        )}
      </div>
      {isEditing && data !== undefined && (
        <RotationForm clientId={clientId} rotation={data.rotation} onClose={() => setEditing(false)} />
      )}
    </section>
  )
}

interface PlanProps {
  clientId: string
  plan: OnCallRecord
  rotation: NonNullable<OnCallRecord['rotation']>
  mayChange: boolean
}

function Plan({ clientId, plan, rotation, mayChange }: PlanProps) {
  const { now, next, overrides } = plan
  const [dialog, setDialog] = useState<'override' | 'delete' | null>(null)
  const remove = useRemoveOnCall(clientId)
  const removeOverride = useDeleteOverride(clientId)
  const zone = rotation.timezone
  return (
    <div className={classes.plan}>
      <dl className={page.facts}>
        <dt>Now</dt>
        <dd>
          <b>{now?.name}</b>
          {now?.is_override === true && ', standing in'}
          {now?.until != null && (
            <>
              , until <RelativeTime at={now.until} zone={zone} />
            </>
          )}
        </dd>
        {next !== null && (
          <>
            <dt>Next</dt>
            <dd>{next.name}</dd>
          </>
        )}
        <dt>Order</dt>
        <dd>{rotation.people.map(({ name }) => name).join(', ')}</dd>
        <dt>Hand-over</dt>
        <dd>
          {WEEKDAYS[rotation.handover_weekday - 1]}, {rotation.handover_time} ({zone})
        </dd>
        <dt>Escalation</dt>
        <dd>
          {rotation.escalate_after_minutes === null
            ? 'off'
            : `to the next person after ${rotation.escalate_after_minutes} min without acknowledgement`}
        </dd>
      </dl>
      {overrides.length > 0 && (
        <ul className={classes.overrides} aria-label="Overrides">
          {overrides.map(({ id, name, starts_at, ends_at }) => (
            <li key={id}>
              <span>
                {name} stands in from {exact(Date.parse(starts_at), zone)} to {exact(Date.parse(ends_at), zone)}
              </span>
              {mayChange && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  aria-label={`Delete the override of ${name}`}
                  loading={removeOverride.isPending && removeOverride.variables === id}
                  onClick={() =>
                    removeOverride.mutate(id, {
                      onError: notifyOf('Not deleted'),
                    })
                  }
                >
                  Delete
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayChange && (
        <div className={classes.acts}>
          <Button size="compact-sm" variant="default" onClick={() => setDialog('override')}>
            Add an override …
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setDialog('delete')}>
            Delete the rotation …
          </Button>
        </div>
      )}
      {dialog === 'override' && (
        <OverrideForm clientId={clientId} rotation={rotation} onClose={() => setDialog(null)} />
      )}
      <Confirm
        opened={dialog === 'delete'}
        onClose={() => setDialog(null)}
        onConfirm={() => remove.mutateAsync(undefined)}
        title="Delete the rotation"
        action="Delete"
      >
        Messages no longer name anyone, and nothing goes to a next person. Its overrides are deleted too.
      </Confirm>
    </div>
  )
}

interface Props {
  clientId: string
  rotation: NonNullable<OnCallRecord['rotation']>
  onClose: () => void
}

const DAY = 86_400_000

/** Adds an override, with which someone in the rotation stands in for a while. */
function OverrideForm({ clientId, rotation, onClose }: Props) {
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
            description={zoneHint(form.values.starts_at, timezone)}
            required
            {...form.getInputProps('starts_at')}
          />
          <TextInput
            type="datetime-local"
            label="Until"
            description={zoneHint(form.values.ends_at, timezone)}
            required
            {...form.getInputProps('ends_at')}
          />
          <DialogEnd action="Add the override" isBusy={isBusy} onClose={onClose} fault={rest} />
        </Stack>
      </form>
    </Dialog>
  )
}
