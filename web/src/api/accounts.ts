import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  AccountRecord,
  ApiTokenRecord,
  CreateApiToken,
  InvitedUser,
  InviteUser,
  NewApiToken,
  PasswordLink,
  SessionRecord,
  UpdateUser,
  UserRecord,
} from '../../../src/accounts/index.ts'
import { request } from './client.ts'
import { sessionQuery } from './session.ts'

export type {
  AccountRecord,
  ApiTokenRecord,
  InvitedUser,
  PasswordLink,
  UserRecord,
} from '../../../src/accounts/index.ts'

/** The person whose password a link sets. */
export interface LinkOwner {
  email: string
  name: string
  is_invitation: boolean
  expires_at: string
}

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => request<AccountRecord>('/api/account', { signal }),
})

/** Two-step sign-in of the user's own account. */
export function useTwoStep() {
  const client = useQueryClient()
  const path = '/api/account/two-step'
  const onSuccess = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: accountQuery.queryKey }),
      client.invalidateQueries({ queryKey: ['sessions'] }),
    ])
  return {
    begin: useMutation({
      mutationFn: (password: string) =>
        request<{ secret: string; uri: string }>(path, { method: 'POST', body: { password } }),
    }),
    confirm: useMutation({ mutationFn: (code: string) => codesBy(`${path}/confirm`, code), onSuccess }),
    renew: useMutation({ mutationFn: (code: string) => codesBy(`${path}/recovery-codes`, code), onSuccess }),
    off: useMutation({
      mutationFn: (code: string) => request<undefined>(`${path}/off`, { method: 'POST', body: { code } }),
      onSuccess,
    }),
  }
}

const codesBy = (path: string, code: string) =>
  request<{ recovery_codes: string[] }>(path, { method: 'POST', body: { code } })

export const useResetTwoStep = () =>
  useChange(['users'], (id: string) => request<undefined>(`/api/users/${id}/two-step`, { method: 'DELETE' }))

export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: ({ signal }) => request<UserRecord[]>('/api/users', { signal }),
})

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => request<ApiTokenRecord[]>('/api/tokens', { signal }),
})

/** The sessions of a user; null for one's own. */
export const sessionsQuery = (userId: string | null) =>
  queryOptions({
    queryKey: ['sessions', userId],
    queryFn: ({ signal }) => request<SessionRecord[]>(sessionsPath(userId), { signal }),
  })

const sessionsPath = (userId: string | null): string =>
  userId === null ? '/api/account/sessions' : `/api/users/${userId}/sessions`

export function useEndSession(userId: string | null) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request<undefined>(`${sessionsPath(userId)}/${id}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
}

const invited = (body: InviteUser) => request<InvitedUser>('/api/users', { method: 'POST', body })

export const useInvite = () => useChange(['users'], invited)

/** Makes the first account. Reads nothing again, as that needs a sign-in from now on. */
export const useInviteFirst = () => useMutation({ mutationFn: invited })

export const useUpdateUser = () =>
  useChange(['users'], ({ id, body }: { id: string; body: UpdateUser }) =>
    request<UserRecord>(`/api/users/${id}`, { method: 'PATCH', body }),
  )

export const useDeleteUser = () =>
  useChange(['users'], (id: string) => request<undefined>(`/api/users/${id}`, { method: 'DELETE' }))

export const useNewLink = () =>
  useChange(['users'], (id: string) => request<PasswordLink>(`/api/users/${id}/link`, { method: 'POST' }))

export const useCreateToken = () =>
  useChange(['tokens'], (body: CreateApiToken) => request<NewApiToken>('/api/tokens', { method: 'POST', body }))

export const useRevokeToken = () =>
  useChange(['tokens'], (id: string) => request<undefined>(`/api/tokens/${id}`, { method: 'DELETE' }))

function useChange<V, T>(queryKey: readonly string[], mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    // Someone may have changed their own roles.
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey }),
        client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
      ]),
  })
}

export function useUpdateAccount() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { name?: string; password?: string; current_password?: string }) =>
      request<undefined>('/api/account', { method: 'PATCH', body }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
        client.invalidateQueries({ queryKey: ['sessions'] }),
        client.invalidateQueries({ queryKey: accountQuery.queryKey }),
      ]),
  })
}

export const readLink = (secret: string): Promise<LinkOwner> =>
  request<LinkOwner>('/api/password-links/read', { method: 'POST', body: { secret } })

export const applyLink = (body: { secret: string; password: string; name?: string }): Promise<undefined> =>
  request<undefined>('/api/password-links/use', { method: 'POST', body })

export const askForLink = (email: string): Promise<undefined> =>
  request<undefined>('/api/password-links', { method: 'POST', body: { email } })
