import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { isLeftToAnother } from '../api/session.ts'
import { forms, unsaved } from './unsaved.ts'

const TYPED = 'Discard what you have typed? It is not saved.'

const mayDiscard = (): boolean => window.confirm(unsaved().at(-1)?.question ?? TYPED)

/**
 * Asks before what was typed is lost to a link, to "back" or to the tab that is closed.
 *
 * @param isUnsaved false while it is being saved, too: a form that is saved leads on
 * @param question about what is lost, where that is nothing typed; it stays the same
 */
export function useUnsaved(isUnsaved: () => boolean, question = TYPED): void {
  const [form] = useState({ current: isUnsaved, question })
  form.current = isUnsaved
  useEffect(() => {
    forms.add(form)
    return () => {
      forms.delete(form)
    }
  }, [form])
  useBlocker({
    // A page that changes its own address loses no input. With two forms, only one asks.
    shouldBlockFn: ({ current, next, action }) =>
      (current.pathname !== next.pathname || action === 'BACK') && unsaved()[0] === form && !mayDiscard(),
    enableBeforeUnload: () => form.current() && !isLeftToAnother(),
  })
}

/** Closes a dialog without its buttons, such as by Escape, and asks first when there is unsaved input. */
export function useClosing(isOpen: boolean, close: () => void): () => void {
  const before = useRef(0)
  useEffect(() => {
    if (isOpen) before.current = unsaved().length
  }, [isOpen])
  return () => {
    if (unsaved().length <= before.current || mayDiscard()) close()
  }
}
