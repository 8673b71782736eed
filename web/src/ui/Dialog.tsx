import { Modal, type ModalProps } from '@mantine/core'
import { useEffect } from 'react'
import { useClosing } from '../lib/use-unsaved.ts'

/**
 * A dialog that is mounted only while it is open. The focus goes back to what opened it: Mantine's modal does that where it stays
 * mounted, and with this one gone the keyboard would begin at the top of the page.
 */
export function Dialog(props: Pick<ModalProps, 'title' | 'onClose' | 'size' | 'children'>) {
  const close = useClosing(true, props.onClose)
  useEffect(() => {
    const opener = document.activeElement
    return () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement)
        opener.focus({ preventScroll: true })
    }
  }, [])
  return <Modal opened {...props} onClose={close} />
}
