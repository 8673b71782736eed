import { useLocalStorage } from '@mantine/hooks'
import { type QueryClient, queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ClientRole, Session } from '../../../src/http/index.ts'
import { external } from '../lib/external.ts'
import { unsaved } from '../lib/unsaved.ts'
import { ApiError, request } from './client.ts'
import { settle } from './settle.ts'

export type { ClientRole, Session } from '../../../src/http/index.ts'

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ client, signal }) => readSession(client, signal),
  staleTime: Number.POSITIVE_INFINITY,
  // Someone may have signed in or out in another tab, and roles change.
  refetchOnWindowFocus: 'always',
})

/** Reads the session. When another person is signed in now, the page must go, because it shows the data of the one before. */
async function readSession(client: QueryClient, signal: AbortSignal): Promise<Session> {
  const now = await request<Session>('/api/session', { signal })
  const before = client.getQueryData<Session>(['session'])
  if (before === undefined || mustSignIn(before)) return now
  if (mustSignIn(now)) {
    signedOut(client)
    return client.getQueryData<Session>(['session']) ?? now
  }
  if (whoIs(before) !== whoIs(now)) leave()
  // Signed in again in another tab: the page's queries continue with this session.
  else ended.set(false)
  return now
}

let isLeft = false
/** Whether the page is being left to another person, who must not be asked about unsaved input of the one before. */
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

/** The user's permissions. The service checks them, too. */
export interface May {
  /** May see at least one client. */
  seesAny: boolean
  /** May change something of at least one client. */
  mayChange: boolean
  /** May see what belongs to the service and not to a client. */
  seesService: boolean
  /** May add clients, pause them, and change their plans. */
  mayAddClients: boolean
  /** May manage people and API tokens of at least one client. */
  isOwner: boolean
  /** May manage people and API tokens of all clients. */
  ownsAll: boolean
}

function mayOf({ access: { all, clients } }: Session): May {
  const any = (needed: ClientRole) => isAtLeast(all, needed) || clients.some(({ role }) => isAtLeast(role, needed))
  return {
    seesAny: any('viewer'),
    mayChange: any('editor'),
    seesService: all !== null,
    mayAddClients: isAtLeast(all, 'editor'),
    isOwner: any('owner'),
    ownsAll: isAtLeast(all, 'owner'),
  }
}

/** The user's role at a client: the higher of the one for that client and the one for all. */
export const roleFor = ({ access: { all, clients } }: Session, clientId: string): ClientRole | null => {
  const own = clients.find(({ client_id }) => client_id === clientId)?.role ?? null
  return own !== null && (all === null || RANK[own] > RANK[all]) ? own : all
}

function mayChangeIn(session: Session, clientId: string | null | undefined): boolean {
  if (clientId === undefined) return mayOf(session).mayChange
  return isAtLeast(clientId === null ? session.access.all : roleFor(session, clientId), 'editor')
}

/**
 * The client that a part of a page is about; null for what belongs to no single client, as an incident of a vendor, which takes a role for all
 * clients; undefined when it is about several, or the client is not known.
 */
export const AboutClient = createContext<string | null | undefined>(undefined)

/** The session and the user's permissions. `mayChange` is false for viewers; within `AboutClient` the permissions are those at that client. */
export function useSession(): Session & May {
  const { data } = useSuspenseQuery(sessionQuery)
  return { ...data, ...mayOf(data), mayChange: mayChangeIn(data, useContext(AboutClient)) }
}

/** Returns whether the user may change a client; for null, what belongs to no single client; for undefined, whether they may change at least one. */
export function useMayChange(): (clientId: string | null | undefined) => boolean {
  const { data } = useSuspenseQuery(sessionQuery)
  return (clientId) => mayChangeIn(data, clientId)
}

/** Whether the session ended on a page with a form, or with input in a popover that is closed. The sign-in then opens above it, so that the input is kept. */
const ended = external(false)
export const useSessionEnded = ended.use

/**
 * Call when the session has ended. On a page without a form, the router goes to the sign-in.
 *
 * @param error that said so; a form shows it once its user has signed in again above it
 */
export function signedOut(client: QueryClient, error?: Error): void {
  const before = client.getQueryData(sessionQuery.queryKey)
  // The sign-in page has a form, too, but a 401 for a wrong key there ends no session.
  if (
    before !== undefined &&
    !mustSignIn(before) &&
    (unsaved().length > 0 || document.querySelector('form') !== null)
  ) {
    ended.set(true)
    // The service's own words are for programs: which header to send.
    if (error !== undefined) error.message = 'Your session had ended: try again'
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
    public_url: null,
  })
}

/** Call after signing in. Removes data of the person signed in before from memory. */
export function signedIn(client: QueryClient, session: Session): void {
  if (!ended.get()) {
    client.removeQueries({ type: 'inactive' })
    settle(client, sessionQuery.queryKey, session)
    return
  }
  const before = client.getQueryData(sessionQuery.queryKey)
  if (before !== undefined && whoIs(before) !== whoIs(session)) {
    leave()
    return
  }
  settle(client, sessionQuery.queryKey, session)
  ended.set(false)
  void client.invalidateQueries()
}

const whoIs = ({ user, role }: Session): string | null => user?.id ?? role

/** A key, or an e-mail address with password and, if the service asks for it, a code. */
export type SignIn = { token: string } | { email: string; password: string; code?: string }

/** Whether the password was right and only the code is missing or wrong. */
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
    // Load a new page, so that nothing stays in memory for the next person. The identity provider returns to the sign-in.
    onSuccess: (ended) => window.location.assign(ended?.provider_url ?? '/sign-in'),
  })
}

/** The name used to acknowledge, kept by the browser; empty means the signed-in role. The service knows the name of an account: no `set`. */
export function useMyName(): [name: string, set: ((name: string) => void) | null] {
  const kept = useLocalStorage({ key: 'tagwarden-my-name', defaultValue: '' })
  return useSession().user === null ? [kept[0], kept[1]] : ['', null]
}

/** The `by` field of a call; absent without a name. */
export const saidBy = (name: string): { by?: string } => (name.trim() === '' ? {} : { by: name.trim() })
