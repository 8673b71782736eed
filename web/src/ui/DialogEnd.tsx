import { Button, Group, Text } from '@mantine/core'
import { useFocusBack } from '../lib/focus-back.ts'

interface Props {
  /** On the button that sends the form. */
  action: string
  isBusy: boolean
  isDisabled?: boolean
  /** Of what cannot be taken back. */
  isDangerous?: boolean
  /** Whether the button has the focus at first. */
  hasFocus?: boolean
  onClose: () => void
  /** Why it was refused, where no field says so. */
  fault?: string | null | undefined
}

/** The end of a form in a dialog: what is wrong with it, and its two buttons. */
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
