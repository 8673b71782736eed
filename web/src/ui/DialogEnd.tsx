import { Button, Group, Text } from '@mantine/core'
import { useFocusBack } from '../lib/focus-back.ts'

interface Props {
  /** The text of the submit button. */
  action: string
  isBusy: boolean
  isDisabled?: boolean
  /** Whether the action cannot be undone. */
  isDangerous?: boolean
  /** Whether the button has the focus at first. */
  hasFocus?: boolean
  onClose: () => void
  /** Why it was refused, when no field shows it. */
  fault?: string | null | undefined
}

/** The end of a form in a dialog: its fault, and its two buttons. */
export function DialogEnd(props: Props) {
  const { action, isBusy, isDisabled = false, isDangerous = false, hasFocus = false, onClose, fault = null } = props
  useFocusBack()
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
        <Button
          type="submit"
          {...(isDangerous && { color: 'danger' })}
          disabled={isDisabled}
          loading={isBusy}
          data-autofocus={hasFocus || undefined}
        >
          {action}
        </Button>
      </Group>
    </>
  )
}
