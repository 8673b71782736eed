import { useEffect } from 'react'

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

/** Use it in a dialog: when it closes and nothing has the focus, the focus returns to what opened it, or near where that was. */
export function useFocusBack(): void {
  useEffect(
    () => () => {
      for (const place of near) {
        if (document.activeElement !== document.body) return
        if (place?.isConnected !== true) continue
        const next = place.matches(FOCUSABLE) ? place : place.querySelector(FOCUSABLE)
        if (next instanceof HTMLElement) next.focus({ preventScroll: true })
      }
    },
    [],
  )
}
