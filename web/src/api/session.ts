import { useLocalStorage } from '@mantine/hooks'
import { type QueryClient, queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ClientRole, Session } from '../../../src/http/index.ts'
import { external } from '../lib/external.ts'
import { ApiError, request } from './client.ts'

export type { ClientRole, Session } from '../../../src/http/index.ts'

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ client, signal }) => readSession(client, signal),
  staleTime: Number.POSITIVE_INFINITY,
  // In another tab someone may have signed in or out, and roles change.
  refetchOnWindowFocus: 'always',
})

/** Who is there now. What is on the page was for who was there before. */
async function readSession(client: QueryClient, signal: AbortSignal): Promise<Session> {
  const now = await request<Session>('/api/session', { signal })
  const before = client.getQueryData<Session>(['session'])
  if (before === undefined || mustSignIn(before)) return now
  if (mustSignIn(now)) {
    signedOut(client)
    return client.getQueryData<Session>(['session']) ?? now
  }
  if (whoIs(before) !== whoIs(now)) leave()
  // Signed in again in another tab: what a page looked at asks for is asked for with this.
  else ended.set(false)
  return now
}

let isLeft = false
/** Whether the page is left to someone else. What was typed before is not theirs: no one asks them about it. */
export const isLeftToAnother = (): boolean => isLeft

function leave(): void {
  isLeft = true
  window.location.reload()
}

/** Whether the user has to sign in before anything can be shown. */
export const mustSignIn = (session: Session): boolean => session.authentication_required && session.role === null

const RANK: Readonly<Record<ClientRole, number>> = { viewer: 1, editor: 2, owner: 3 }
const isAtLeast = (role: ClientRole | null | undefined, needed: ClientRole): boolean =>
  role != null && RANK[role] >= RANK[needed]

/** What the one who looks at the page may do. Calls that go further are refused by the service, too. */
export interface May {
  /** Change something, of any client. */
  mayChange: boolean
  /** See what is of the service itself and of no client. */
  seesService: boolean
  /** Add clients. */
  mayAddClients: boolean
  /** Manage people and API tokens, of any client. */
  isOwner: boolean
  /** Manage those of all clients. */
  ownsAll: boolean
}

export function mayOf({ access: { all, clients } }: Session): May {
  const any = (needed: ClientRole) => isAtLeast(all, needed) || clients.some(({ role }) => isAtLeast(role, needed))
  return {
    mayChange: any('editor'),
    seesService: all !== null,
    mayAddClients: isAtLeast(all, 'editor'),
    isOwner: any('owner'),
    ownsAll: isAtLeast(all, 'owner'),
  }
}

/** The client's role that this is enough for, as the service says. */
export const roleFor = ({ access: { all, clients } }: Session, clientId: string): ClientRole | null => {
  const own = clients.find(({ client_id }) => client_id === clientId)?.role ?? null
  return own !== null && (all === null || RANK[own] > RANK[all]) ? own : all
}

const mayChangeClient = (session: Session, clientId: string): boolean => isAtLeast(roleFor(session, clientId), 'editor')

/** The client that a part of a page is about. Null where it is about many. */
export const AboutClient = createContext<string | null>(null)

/**
 * Who looks at the page. `mayChange` is false for a viewer, whose calls that change something are refused; within `AboutClient` it says
 * what may be done of that client.
 */
export function useSession(): Session & May {
  const { data } = useSuspenseQuery(sessionQuery)
  const may = mayOf(data)
  const clientId = useContext(AboutClient)
  return { ...data, ...may, mayChange: clientId === null ? may.mayChange : mayChangeClient(data, clientId) }
}

/** Whether something may be changed of a client; of one that is not known, whether of any. */
export function useMayChange(): (clientId: string | undefined) => boolean {
  const { data } = useSuspenseQuery(sessionQuery)
  return (clientId) => (clientId === undefined ? mayOf(data).mayChange : mayChangeClient(data, clientId))
}

/** Whether the session has ended under a page with a form: the sign-in comes above it, and what was typed stays. */
const ended = external(false)
export const useSessionEnded = ended.use

/** Notes that the session is over; the router leads to the sign-in, where there is no form to keep. */
export function signedOut(client: QueryClient): void {
  const before = client.getQueryData(sessionQuery.queryKey)
  // The sign-in has a form, too, and a wrong key ends no session.
  if (before !== undefined && !mustSignIn(before) && document.querySelector('form') !== null) {
    ended.set(true)
    return
  }
  client.setQueryData(sessionQuery.queryKey, {
    role: null,
    authentication_required: true,
    accounts: before?.accounts ?? false,
    single_sign_on: before?.single_sign_on ?? null,
    proxy: null,
    user: null,
    access: { all: null, clients: [] },
  })
}

/** Notes who has signed in. What someone else was shown before must not stay in memory. */
export function signedIn(client: QueryClient, session: Session): void {
  if (!ended.get()) {
    client.removeQueries({ type: 'inactive' })
    client.setQueryData(sessionQuery.queryKey, session)
    return
  }
  const before = client.getQueryData(sessionQuery.queryKey)
  if (before !== undefined && whoIs(before) !== whoIs(session)) {
    leave()
    return
  }
  client.setQueryData(sessionQuery.queryKey, session)
  ended.set(false)
  void client.invalidateQueries()
}

const whoIs = ({ user, role }: Session): string | null => user?.id ?? role

/** A key, or an address with its password and, where the service asks for it, a code. */
export type SignIn = { token: string } | { email: string; password: string; code?: string }

/** The password was right, and the account asks for a code, too. */
export const isAboutCode = (error: unknown): boolean => error instanceof ApiError && error.fault('/code') !== undefined

export function useSignIn() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: SignIn) => request<Session>('/api/session', { method: 'POST', body }),
    onSuccess: (session) => signedIn(client, session),
  })
}

export function useSignOut() {
  return useMutation({
    mutationFn: () => request<{ provider_url: string } | undefined>('/api/session', { method: 'DELETE' }),
    // A new page: what an admin saw must not stay in memory for who comes next. The identity provider comes back to the sign-in.
    onSuccess: (ended) => window.location.assign(ended?.provider_url ?? '/sign-in'),
  })
}

/** The name that acknowledges; empty: the role that is signed in. The browser keeps it. */
export const useMyName = () => useLocalStorage({ key: 'tagwarden-my-name', defaultValue: '' })

/** The part of a call that says who. */
export const saidBy = (name: string): { by?: string } => (name.trim() === '' ? {} : { by: name.trim() })
