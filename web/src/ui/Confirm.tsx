import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'

interface Props {
  opened: boolean
  onClose: () => void
  /** Rejects when it failed; the dialog then says so and stays. */
  onConfirm: () => Promise<unknown>
  /** "Switch off the probe Health of Shop" */
  title: string
  /** On the button. */
  action: string
  /** What follows from it. */
  children: ReactNode
}

/** Asks before something that can be taken back, but that no one would notice: a check that does not run finds nothing. */
export function Confirm({ opened, onClose, onConfirm, title, action, children }: Props) {
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
    <Modal opened={opened} onClose={onClose} title={title} centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="lg">
        <Text size="md" component="div">
          {children}
        </Text>
        {failure !== null && (
          <Text c="var(--critical-text)" size="sm" role="alert">
            {failure}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={() => void confirm()} loading={isBusy} data-autofocus>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
