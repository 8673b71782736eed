import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  /** On the button that sends the form. */
  action: string
  isBusy: boolean
  isDisabled?: boolean
  /** Why it was refused, where no field says so. */
  fault: string | null
  /** Beside the button: the way out, and what else is to be said. */
  children: ReactNode
}

/** The end of a form that is a page of its own: what is wrong with it, the button that sends it, and the way out. */
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
