import { useState } from 'react'
import { useMayChange } from '../api/session.ts'

/** Whether a form about a client is shown. One that is open stays, with what was typed, when the role is taken away: saving is refused then. */
export function useMayOpen(clientId: string | undefined): boolean {
  const mayChange = useMayChange()(clientId)
  const [opened, setOpened] = useState<string>()
  if (mayChange && clientId !== undefined && clientId !== opened) setOpened(clientId)
  return mayChange || (clientId !== undefined && clientId === opened)
}
