import { Button, Group, Modal, type ModalProps, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useClosing } from '../lib/use-unsaved.ts'

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), [tabindex="0"]'

/** The element last focused outside of dialogs, and its nearest others: when a dialog closes, its row or menu may be gone. */
let near: (Element | null)[] = []
document.addEventListener('focusin', ({ target }) => {
  if (!(target instanceof Element) || target.closest('[role="dialog"]') !== null) return
  const menu = target.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  near = []
  for (let at = document.getElementById(menu ?? '') ?? target; at.parentElement !== null; at = at.parentElement)
    near.push(at, at.nextElementSibling, at.previousElementSibling)
})

function focusBack(): void {
  for (const place of near) {
    if (document.activeElement !== document.body) return
    if (place?.isConnected !== true) continue
    const next = place.matches(FOCUSABLE) ? place : place.querySelector(FOCUSABLE)
    if (next instanceof HTMLElement) next.focus({ preventScroll: true })
  }
}

/** Use it in a dialog: when it closes and nothing has the focus, the focus returns to what opened it, or near where that was. */
const useFocusBack = (): void => useEffect(() => focusBack, [])

/** Use it in a list whose rows are removed by their buttons: the focus goes to a button nearby. */
export function useFocusKept(rows: number): void {
  const before = useRef(rows)
  useEffect(() => {
    if (rows < before.current) focusBack()
    before.current = rows
  }, [rows])
}

/** A dialog that is mounted only while open. Mantine's modal restores the focus only if it stays mounted, so `useFocusBack` does. */
export function Dialog(props: Pick<ModalProps, 'title' | 'onClose' | 'size' | 'children'>) {
  const close = useClosing(true, props.onClose)
  useFocusBack()
  return <Modal opened {...props} onClose={close} />
}

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
