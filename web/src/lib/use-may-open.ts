import { useState } from 'react'
import { useMayChange } from '../api/session.ts'

/** Whether a form about a client is shown. */
export function useMayOpen(clientId: string | undefined): boolean {
  const mayChange = useMayChange()(clientId)
  return useStaysOpen(clientId, mayChange)
}

/**
 * Whether a form is shown. One that is open stays, with what was typed, when the role is taken away: saving is refused then.
 *
 * @param form what tells it from others; undefined: that is not known yet
 */
export function useStaysOpen(form: string | undefined, mayOpen: boolean): boolean {
  const [opened, setOpened] = useState<string>()
  if (mayOpen && form !== undefined && form !== opened) setOpened(form)
  return mayOpen || (form !== undefined && form === opened)
}
