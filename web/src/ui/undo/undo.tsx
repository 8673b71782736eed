import { Button, Group, Kbd } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect } from 'react'
import { isForPage } from '../../lib/keys.ts'

/** As long as a slip takes to be noticed, ms. */
const SHOWN_MS = 8_000
const KEY = 'u'
/** Only the last thing that was done can be undone: there is one toast, and one meaning of the key. */
const ID = 'undo'

/**
 * Says what was done, and for eight seconds takes it back by a click or the key "u". What is refused then is said.
 *
 * @param done "1 alert acknowledged"
 */
export function offerUndo(done: string, undo: () => Promise<unknown>): void {
  notifications.hide(ID)
  const take = () => {
    notifications.hide(ID)
    undo().catch(({ message }: Error) => notifications.show({ color: 'danger', title: 'Not undone', message }))
  }
  notifications.show({
    id: ID,
    title: done,
    message: <Undo onUndo={take} />,
    autoClose: SHOWN_MS,
    closeButtonProps: { 'aria-label': 'Close' },
  })
}

function Undo({ onUndo }: { onUndo: () => void }) {
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.key !== KEY || !isForPage(event)) return
      event.preventDefault()
      onUndo()
    }
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [onUndo])
  return (
    <Group mt="xs" gap="xs">
      <Button size="compact-sm" variant="default" onClick={onUndo} aria-keyshortcuts={KEY}>
        Undo
      </Button>
      <Kbd size="xs" aria-hidden>
        {KEY}
      </Kbd>
    </Group>
  )
}
