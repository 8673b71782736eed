import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouter, useRouterState } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { mustSignIn, sessionQuery, useSignIn } from '../../api/session.ts'
import type { UrlSearch } from '../../lib/use-url-state.ts'
import { Logo } from '../../ui/Logo.tsx'
import { useTab } from '../../ui/status/status.ts'
import classes from './sign-in.module.css'

/** Exchanges a key for a session, and leads on to where the user wanted to go. */
export function SignInPage() {
  // Who is not signed in sees nothing of the sites' health, also in a tab that showed it before.
  useTab('Sign in · Tagwarden', 'unknown')
  const next = useNext()
  const { data: session } = useQuery(sessionQuery)
  const signIn = useSignIn()
  const [token, setToken] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate(token)
  }
  const { history } = useRouter()
  const isIn = session !== undefined && !mustSignIn(session)
  useEffect(() => {
    if (isIn) history.replace(next)
  }, [isIn, history, next])
  if (isIn) return null
  return (
    <main className={classes.page}>
      <form className={classes.form} onSubmit={submit}>
        <div className={classes.brand}>
          <Logo size={22} />
          Tagwarden
        </div>
        <h1>Sign in</h1>
        <p className={classes.text}>
          With the admin key, or the viewer key for read-only access. The person who set up Tagwarden has both.
        </p>
        <PasswordInput
          label="Key"
          name="token"
          autoComplete="current-password"
          autoFocus
          size="md"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={signIn.error === null ? undefined : explain(signIn.error)}
        />
        <Button type="submit" size="md" fullWidth disabled={token === ''} loading={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </main>
  )
}

/** Where to go afterwards: a path of ours, whatever the address says. It holds while the address already changes. */
function useNext(): string {
  const { next = '/' } = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const [path] = useState(() => pathOf(next))
  return path
}

function pathOf(next: string): string {
  const url = URL.parse(next, window.location.origin)
  return url !== null && url.origin === window.location.origin ? `${url.pathname}${url.search}` : '/'
}

function explain(error: Error): string {
  if (error instanceof ApiError && error.code === 'unauthorized')
    return 'This key is not known. Check for a missing part.'
  if (error instanceof ApiError && error.code === 'rate_limited') {
    return `Too many tries from here. Wait ${error.retryAfter ?? 60} s and try again.`
  }
  return error.message
}
