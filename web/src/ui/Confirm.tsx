import { Modal, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { DialogEnd } from './DialogEnd.tsx'

interface ConfirmProps {
  opened: boolean
  onClose: () => void
  /** Rejects when it failed; the dialog then says so and stays. */
  onConfirm: () => Promise<unknown>
  /** "Pause the probe Health of Shop" */
  title: string
  /** On the button. */
  action: string
  /** What follows from it. */
  children: ReactNode
}

/** Asks before something that can be taken back, but that no one would notice: a check that does not run finds nothing. */
export function Confirm({ opened, onClose, onConfirm, title, action, children }: ConfirmProps) {
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await onConfirm()
      onClose()
    } catch (thrown) {
      setFailure(thrown instanceof Error ? thrown.message : String(thrown))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void confirm()
        }}
      >
        <Stack gap="lg">
          <Text size="md" component="div">
            {children}
          </Text>
          <DialogEnd action={action} isBusy={isBusy} onClose={onClose} fault={failure} hasFocus />
        </Stack>
      </form>
    </Modal>
  )
}

interface ConfirmByNameProps {
  opened: boolean
  onClose: () => void
  /** Throws or rejects when it failed; the dialog then says so and stays. */
  onConfirm: () => Promise<unknown>
  /** "Delete the site Feldkamp Outdoor" */
  title: string
  /** What has to be typed. */
  name: string
  /** On the button: "Delete the site". */
  action: string
  /** What goes with it: "Deletes 14 probes and 21 days of data. Its tag is refused from then on." */
  children: ReactNode
}

/** Asks for the name of what is about to be destroyed. */
export function ConfirmByName(props: ConfirmByNameProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ onClose, onConfirm, name, action, children }: ConfirmByNameProps) {
  const [typed, setTyped] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  const confirm = async () => {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (thrown) {
      setFailure(thrown instanceof Error ? thrown.message : String(thrown))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      aria-describedby={id}
      onSubmit={(event) => {
        event.preventDefault()
        if (typed === name) void confirm()
      }}
    >
      <Stack gap="lg">
        <Text size="md" id={id} component="div">
          {children}
        </Text>
        <TextInput
          label={`To confirm, type ${name}`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={failure}
          autoComplete="off"
          data-autofocus
        />
        <DialogEnd action={action} isBusy={isBusy} isDisabled={typed !== name} isDangerous onClose={onClose} />
      </Stack>
    </form>
  )
}
