import { useLocalStorage } from '@mantine/hooks'
import { type QueryClient, queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { Session } from '../../../src/http/index.ts'
import { request } from './client.ts'

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => request<Session>('/api/session', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Whether the user has to sign in before anything can be shown. */
export const mustSignIn = (session: Session): boolean => session.authentication_required && session.role === null

/** Who looks at the page. `mayChange` is false for a viewer, whose calls that change something are refused. */
export function useSession(): Session & { mayChange: boolean } {
  const { data } = useSuspenseQuery(sessionQuery)
  return { ...data, mayChange: data.role === 'admin' || data.role === 'open' }
}

/** Notes that the session is over; the router then leads to the sign-in. */
export function signedOut(client: QueryClient): void {
  client.setQueryData(sessionQuery.queryKey, { role: null, authentication_required: true })
}

export function useSignIn() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (token: string) => request<Session>('/api/session', { method: 'POST', body: { token } }),
    onSuccess: (session) => client.setQueryData(sessionQuery.queryKey, session),
  })
}

export function useSignOut() {
  return useMutation({
    mutationFn: () => request<undefined>('/api/session', { method: 'DELETE' }),
    // A new page: what an admin saw must not stay in memory for who comes next.
    onSuccess: () => window.location.assign('/sign-in'),
  })
}

/** The name that acknowledges; empty: the role that is signed in. The browser keeps it. */
export const useMyName = () => useLocalStorage({ key: 'tagwarden-my-name', defaultValue: '' })

/** The part of a call that says who. */
export const saidBy = (name: string): { by?: string } => (name.trim() === '' ? {} : { by: name.trim() })
