import { useLocalStorage } from '@mantine/hooks'

/** The name that acknowledges; empty: the role that is signed in. The browser keeps it. */
export const useMyName = () => useLocalStorage({ key: 'tagwarden-my-name', defaultValue: '' })

/** The part of a call that says who. */
export const saidBy = (name: string): { by?: string } => (name.trim() === '' ? {} : { by: name.trim() })
