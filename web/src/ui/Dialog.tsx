import { Modal, type ModalProps } from '@mantine/core'
import { useFocusBack } from '../lib/focus-back.ts'
import { useClosing } from '../lib/use-unsaved.ts'

/** A dialog that is mounted only while it is open: Mantine's modal gives the focus back only where it stays mounted. */
export function Dialog(props: Pick<ModalProps, 'title' | 'onClose' | 'size' | 'children'>) {
  const close = useClosing(true, props.onClose)
  useFocusBack()
  return <Modal opened {...props} onClose={close} />
}
