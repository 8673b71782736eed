import { useEffect } from 'react'

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), [tabindex="0"]'

/** What had the focus last outside of dialogs, and what is nearest to it: when a dialog closes, the row or the menu that it was in may be gone. */
let near: (Element | null)[] = []
document.addEventListener('focusin', ({ target }) => {
  if (!(target instanceof Element) || target.closest('[role="dialog"]') !== null) return
  const menu = target.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  near = []
  for (let at = document.getElementById(menu ?? '') ?? target; at.parentElement !== null; at = at.parentElement)
    near.push(at, at.nextElementSibling, at.previousElementSibling)
})

/** In a dialog: when it is gone and nothing has the focus, it goes back to what opened the dialog, or near to where that was. */
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
