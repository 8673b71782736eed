import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import { type OnCallRecord, onCallQuery, useDeleteOverride, useRemoveOnCall } from '../../api/on-call.ts'
import { useSession } from '../../api/session.ts'
import { exact } from '../../lib/words.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited } from '../../ui/States.tsx'
import page from './clients.module.css'
import { OverrideForm } from './OverrideForm.tsx'
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
                  onClick={() => removeOverride.mutate(id)}
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
