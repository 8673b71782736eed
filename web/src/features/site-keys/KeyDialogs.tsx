import { Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type ReactNode, useState } from 'react'
import type { Status } from '../../api/overview.ts'
import { type SiteKeyRecord, useAddKey, useChangeKey, useRevokeKey, useRotateKey } from '../../api/site-keys.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { exact } from '../../lib/words.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import { zoneHint } from '../../lib/zone-hint.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'

interface DialogProps {
  site: SiteRecord
  onClose: () => void
}

interface KeyDialogProps extends DialogProps {
  siteKey: SiteKeyRecord
}

export function AddKeyDialog({ site, onClose }: DialogProps) {
  const add = useAddKey(site.id)
  return (
    <KeyForm
      title="Add a key"
      action="Add the key"
      initial={{ name: '' }}
      zone={site.timezone}
      onClose={onClose}
      onSave={({ name = '' }) => add.mutateAsync({ name })}
    >
      A key for another sender. Existing keys stay as they are.
    </KeyForm>
  )
}

/** Rotates a key: adds a new one, and the old one stays valid until a date. */
export function RotateKeyDialog({ site, siteKey, onClose }: KeyDialogProps) {
  const rotate = useRotateKey(site.id, siteKey.id)
  const [until] = useState(() => wallTime(Date.now() + OVERLAP_MS, site.timezone))
  return (
    <KeyForm
      title={`Rotate the key ${siteKey.name}`}
      action="Rotate the key"
      initial={{ name: siteKey.name, until }}
      isUntilNew
      zone={site.timezone}
      onClose={onClose}
      onSave={({ name, until: old_until }) =>
        rotate.mutateAsync({ ...(name !== undefined && { name }), ...(old_until !== undefined && { old_until }) })
      }
    >
      The new key is valid at once. Enter it in the tag, which keeps the old key even if you import the template again,
      and publish the container before the old key ends: until then both are accepted.
    </KeyForm>
  )
}

/** Changes the end of a key that is being replaced. */
export function ChangeKeyDialog({ site, siteKey, onClose }: KeyDialogProps) {
  const change = useChangeKey(site.id, siteKey.id)
  return (
    <KeyForm
      title={`Change the end of the key ${siteKey.name}`}
      action="Save"
      initial={{ name: siteKey.name, until: wallTime(Date.parse(siteKey.expires_at ?? ''), site.timezone) }}
      zone={site.timezone}
      onClose={onClose}
      onSave={({ name, until: expires_at }) =>
        change.mutateAsync({ ...(name !== undefined && { name }), ...(expires_at !== undefined && { expires_at }) })
      }
    >
      A later end gives its senders more time; for an earlier one give them the new key first.
    </KeyForm>
  )
}

/** Asks before revoking a key. */
export function RevokeKey({ site, siteKey, onClose, opened }: KeyDialogProps & { opened: boolean }) {
  const revoke = useRevokeKey(site.id, siteKey.id)
  const { name, last_used_at } = siteKey
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      onConfirm={() => revoke.mutateAsync(undefined)}
      title={`Revoke the key ${name}`}
      action="Revoke the key"
    >
      {last_used_at === null
        ? 'No request has come with it.'
        : `A request last came with it at ${exact(Date.parse(last_used_at), site.timezone)}.`}{' '}
      From now on all that is sent with it is refused, permanently. Other keys of the site stay valid.
    </Confirm>
  )
}

interface Values {
  name: string
  /** Local time in the site's zone. */
  until?: string
}

interface Changes {
  name?: string
  /** ISO 8601 */
  until?: string
}

interface FormProps {
  title: string
  /** The button's text. */
  action: string
  initial: Values
  /** Whether `until` is sent even when it is unchanged. */
  isUntilNew?: boolean
  zone: string
  onClose: () => void
  onSave: (changes: Changes) => Promise<SiteKeyRecord>
  children: ReactNode
}

/** The form's field for each field name of the API. */
const FIELDS: Readonly<Record<string, keyof Values>> = { name: 'name', old_until: 'until', expires_at: 'until' }

function KeyForm({ title, action, initial, isUntilNew = false, zone, onClose, onSave, children }: FormProps) {
  const form = useForm<Values>({
    initialValues: initial,
    validate: {
      until: (until) => (until !== undefined && momentOf(until, zone) === null ? 'Enter a date and a time' : null),
    },
  })
  const { formRef, onSubmit, isBusy, rest } = useSaving(
    form,
    async ({ name, until }) => {
      const isMoved = until !== undefined && (isUntilNew || until !== initial.until)
      const moment = isMoved ? momentOf(until, zone) : null
      await onSave({ name, ...(moment !== null && { until: new Date(moment).toISOString() }) })
      onClose()
    },
    () => Object.keys(FIELDS),
    FIELDS,
  )
  return (
    <Dialog onClose={onClose} title={title}>
      <form ref={formRef} onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <Text size="md">{children}</Text>
          <TextInput
            label={isUntilNew ? "The new key's name" : 'Name'}
            description="Who sends with it"
            placeholder="web container"
            maxLength={60}
            required
            data-autofocus
            {...form.getInputProps('name')}
          />
          {initial.until !== undefined && (
            <TextInput
              type="datetime-local"
              label="The old key is valid until"
              description={zoneHint(form.values.until ?? '', zone)}
              required
              {...form.getInputProps('until')}
            />
          )}
          <DialogEnd action={action} isBusy={isBusy} onClose={onClose} fault={rest} />
        </Stack>
      </form>
    </Dialog>
  )
}

const DAY = 86_400_000
const HOUR = 3_600_000

/** Default time that the old key stays valid, ms. */
export const OVERLAP_MS = 7 * DAY

export const isAccepted = ({ state }: SiteKeyRecord): boolean => state === 'valid' || state === 'expiring'

/** A key's state as a status: one that expires or is refused while it is still used needs attention. */
export function keyStatus(key: SiteKeyRecord, now: number): Status {
  if (key.state === 'valid') return 'ok'
  if (key.state === 'expiring') return isInUse(key, now) ? 'warning' : 'ok'
  return isInUse(key, now) ? 'critical' : 'unknown'
}

/** Whether the key was used recently; senders are rarely silent for an hour. */
export const isInUse = ({ last_used_at }: SiteKeyRecord, now: number): boolean =>
  last_used_at !== null && now - Date.parse(last_used_at) < HOUR

/** The most important warning about a site's keys; null when all is well. */
export function warningOf(keys: readonly SiteKeyRecord[]): string | null {
  const accepted = keys.filter(isAccepted)
  if (accepted.length === 0) return 'No key is valid: every request of this site is refused. Add a key.'
  if (accepted.every(({ state }) => state === 'expiring')) {
    return 'Every key of this site ends soon, and then every request is refused. Add a key.'
  }
  return null
}
