import { useEffect } from 'react'

/**
 * Gives the focus back to what opened a dialog. For one that is mounted only while it is open: Mantine's modal does it where it stays
 * mounted, and with this one gone the keyboard would begin at the top of the page.
 */
export function useFocusReturn(): void {
  useEffect(() => {
    const opener = document.activeElement
    return () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement)
        opener.focus({ preventScroll: true })
    }
  }, [])
}
