import { Button, Group, Text } from '@mantine/core'

interface Props {
  /** On the button that sends the form. */
  action: string
  isBusy: boolean
  isDisabled?: boolean
  onClose: () => void
  /** Why it was refused, where no field says so. */
  fault: string | null | undefined
}

/** The end of a form in a dialog: what is wrong with it, and its two buttons. */
export function DialogEnd({ action, isBusy, isDisabled = false, onClose, fault = null }: Props) {
  return (
    <>
      {fault !== null && (
        <Text c="var(--critical-text)" size="sm" role="alert">
          {fault}
        </Text>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" disabled={isDisabled} loading={isBusy}>
          {action}
        </Button>
      </Group>
    </>
  )
}
