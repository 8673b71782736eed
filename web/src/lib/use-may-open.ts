import { useState } from 'react'
import { useMayChange } from '../api/session.ts'

/** Whether to show a form about a client. */
export function useMayOpen(clientId: string | undefined): boolean {
  const mayChange = useMayChange()(clientId)
  return useStaysOpen(clientId, mayChange)
}

/**
 * Whether to show a form. An open one stays with its input even when the role is taken away; saving is then refused.
 *
 * @param form identifies it; undefined while unknown
 */
export function useStaysOpen(form: string | undefined, mayOpen: boolean): boolean {
  const [opened, setOpened] = useState<string>()
  if (mayOpen && form !== undefined && form !== opened) setOpened(form)
  return mayOpen || (form !== undefined && form === opened)
}
