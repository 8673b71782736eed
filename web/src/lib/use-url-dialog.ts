import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback, useRef } from 'react'
import { useSetUrlState, useUrlState } from './use-url-state.ts'

/**
 * Which dialog of a page is open, kept in its address, so that links lead to it and a reload keeps it. One opened on the page is a step
 * of the history: "back" closes it, and closing it goes back, so that no step is left that changes nothing.
 *
 * @returns the dialog's name, "" without one; how to open one, and how to close it
 */
export function useUrlDialog(): [dialog: string, open: (name: string) => void, close: () => void] {
  const router = useRouter()
  const navigate = useNavigate()
  const replace = useSetUrlState()
  const [dialog] = useUrlState('dialog', '')
  const here = useRouterState({ select: ({ location }) => location.pathname })
  const isLeaving = useRef(false)
  if (dialog === '') isLeaving.current = false
  const open = useCallback(
    (name: string) =>
      void navigate({
        to: '.',
        search: (now: object) => ({ ...now, dialog: name }),
        state: { isDialog: true },
        resetScroll: false,
      }),
    [navigate],
  )
  const close = useCallback(() => {
    const { pathname, state } = router.latestLocation
    // A form may be saved only when another page is shown. And going back takes a moment: a second click must not leave the page.
    if (pathname !== here || isLeaving.current) return
    if (state.isDialog !== true) return replace({ dialog: undefined })
    isLeaving.current = true
    // Who closes it has been asked whether to discard what was typed.
    router.history.back({ ignoreBlocker: true })
  }, [router, here, replace])
  return [dialog, open, close]
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether this step of the history opened a dialog. */
    isDialog?: boolean
  }
}
