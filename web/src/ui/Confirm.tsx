import { Modal, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useId, useRef, useState } from 'react'
import { notifyOf } from '../lib/refusal.ts'
import { DialogEnd } from './Dialog.tsx'

interface ConfirmProps {
  opened: boolean
  onClose: () => void
  /** Rejects on failure; the dialog then shows it and stays open. */
  onConfirm: () => Promise<unknown>
  /** "Pause the probe Health of Shop" */
  title: string
  /** On the button. */
  action: string
  /** The consequences. */
  children: ReactNode
}

/** Asks before something that can be reverted, but that no one would notice, such as pausing a check. */
export function Confirm(props: ConfirmProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <Question {...props} />
    </Modal>
  )
}

function Question({ onClose, onConfirm, action, children }: ConfirmProps) {
  const { formRef, failure, isBusy, confirm } = useConfirming(onConfirm, onClose)
  return (
    <form
      ref={formRef}
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
  )
}

interface ConfirmByNameProps {
  opened: boolean
  onClose: () => void
  /** Throws or rejects on failure; the dialog then shows it and stays open. */
  onConfirm: () => Promise<unknown>
  /** "Delete the site Feldkamp Outdoor" */
  title: string
  /** The name to type. */
  name: string
  /** On the button: "Delete the site". */
  action: string
  /** The consequences: "Deletes 14 probes and 21 days of data. Its tag is refused from then on." */
  children: ReactNode
}

/** Asks to type the name of what is about to be deleted. */
export function ConfirmByName(props: ConfirmByNameProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ onClose, onConfirm, name, action, children }: ConfirmByNameProps) {
  const [typed, setTyped] = useState('')
  // The page shows several spaces as one.
  const isSame = oneSpaced(typed) === oneSpaced(name)
  const { formRef, failure, isBusy, confirm } = useConfirming(onConfirm, onClose)
  const id = useId()
  return (
    <form
      ref={formRef}
      aria-describedby={id}
      onSubmit={(event) => {
        event.preventDefault()
        if (isSame) void confirm()
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
        <DialogEnd action={action} isBusy={isBusy} isDisabled={!isSame} isDangerous onClose={onClose} />
      </Stack>
    </form>
  )
}

const oneSpaced = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

/** Runs the confirmed action. Used in the dialog's content, so that each opening starts without an earlier failure. */
function useConfirming(onConfirm: () => Promise<unknown>, onClose: () => void) {
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const formRef = useRef<HTMLFormElement>(null)
  const confirm = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await onConfirm()
      if (formRef.current !== null) onClose()
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      if (formRef.current === null) notifyOf('Not done')(error)
      setFailure(error.message)
    } finally {
      setBusy(false)
    }
  }
  return { formRef, failure, isBusy, confirm }
}
