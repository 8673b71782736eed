import { Modal, type ModalProps } from '@mantine/core'
import { useFocusBack } from '../lib/focus-back.ts'
import { useClosing } from '../lib/use-unsaved.ts'

/** A dialog that is mounted only while open. Mantine's modal restores the focus only if it stays mounted, so `useFocusBack` does. */
export function Dialog(props: Pick<ModalProps, 'title' | 'onClose' | 'size' | 'children'>) {
  const close = useClosing(true, props.onClose)
  useFocusBack()
  return <Modal opened {...props} onClose={close} />
}
