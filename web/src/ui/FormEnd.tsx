import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  /** The text of the submit button. */
  action: string
  isBusy: boolean
  isDisabled?: boolean
  /** Why it was refused, when no field shows it. */
  fault: string | null
  /** Shown beside the button: the link to cancel, and notes. */
  children: ReactNode
}

/** The end of a form on its own page: its fault, the submit button, and a link to cancel. */
export function FormEnd({ action, isBusy, isDisabled = false, fault, children }: Props) {
  return (
    <>
      {fault !== null && (
        <Text c="var(--critical-text)" size="sm" role="alert">
          {fault}
        </Text>
      )}
      <Group>
        <Button type="submit" disabled={isDisabled} loading={isBusy}>
          {action}
        </Button>
        {children}
      </Group>
    </>
  )
}
