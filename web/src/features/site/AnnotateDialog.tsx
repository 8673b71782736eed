import '@mantine/core/styles/CheckboxCard.layer.css'
import '@mantine/core/styles/CheckboxIndicator.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Checkbox, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { useAddAnnotation } from '../../api/annotations.ts'
import { useSession } from '../../api/session.ts'
import { external } from '../../lib/external.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { isForPage } from '../../lib/keys.ts'
import { useClosing } from '../../lib/use-unsaved.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import { momentLike, zoneHint } from '../../lib/zone-hint.ts'
import { DialogEnd } from '../../ui/Dialog.tsx'
import { useSite } from './site-scope.ts'

const KEY = 'n'

const isOpen = external(false)
export const annotate = (): void => isOpen.set(true)
const close = (): void => isOpen.set(false)

/** Adds an annotation at a time. The key `n` opens it. */
export function AnnotateDialog() {
  const { mayChange } = useSession()
  useEffect(() => {
    if (!mayChange) return undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== KEY || !isForPage(event)) return
      event.preventDefault()
      annotate()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [mayChange])
  useEffect(() => close, [])
  const opened = isOpen.use()
  const onClose = useClosing(opened, close)
  return (
    <Modal opened={opened} onClose={onClose} title="What happened?">
      <Form />
    </Modal>
  )
}

function Form() {
  const { site, frame } = useSite()
  const add = useAddAnnotation()
  const zone = site.timezone
  const [opened] = useState(() => frame.picked?.from ?? Date.now())
  const initial = wallTime(opened, zone)
  const form = useForm({
    initialValues: {
      text: '',
      at: initial,
      url: '',
      isOfClient: false,
    },
    validate: { at: (at) => (momentOf(at, zone) === null ? 'Enter a date and a time' : null) },
  })
  const momentAt = (at: string) => momentLike(opened, at, zone)
  const { formRef, onSubmit, isBusy, rest } = useSaving(form, async ({ text, at, url, isOfClient }) => {
    await add.mutateAsync({
      ...(isOfClient ? { client_id: site.client_id } : { site_id: site.id }),
      text,
      ...(url.trim() !== '' && { url: url.trim() }),
      at: new Date(momentAt(at) ?? opened).toISOString(),
    })
    close()
  })
  return (
    <form ref={formRef} onSubmit={onSubmit}>
      <Stack gap="md">
        <TextInput
          label="What happened"
          placeholder="Consent banner changed"
          required
          maxLength={200}
          data-autofocus
          {...form.getInputProps('text')}
        />
        <TextInput
          type="datetime-local"
          label="When"
          description={zoneHint(form.values.at, zone, momentAt(form.values.at))}
          required
          {...form.getInputProps('at')}
        />
        <TextInput
          label="Link"
          description="Where it is explained, such as a release or a ticket"
          maxLength={2_048}
          {...form.getInputProps('url')}
        />
        <Checkbox label="On all sites of this client" {...form.getInputProps('isOfClient', { type: 'checkbox' })} />
        <DialogEnd action="Annotate" isBusy={isBusy} onClose={close} fault={rest} />
      </Stack>
    </form>
  )
}
