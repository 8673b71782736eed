import '@mantine/core/styles/Divider.layer.css'
import { Button, Divider, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouter, useRouterState } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { ApiError, UnreachableError } from '../../api/client.ts'
import { isAboutCode, mustSignIn, type Session, sessionQuery, useSignIn } from '../../api/session.ts'
import type { UrlSearch } from '../../lib/use-url-state.ts'
import { Logo } from '../../ui/Logo.tsx'
import { useTab } from '../../ui/status/status.ts'
import { ForgotForm } from './ForgotForm.tsx'
import classes from './sign-in.module.css'

/** Why a sign-in with the identity provider failed, by the code that the service puts into the address. */
const PROBLEMS: Readonly<Record<string, string>> = {
  refused: 'The sign-in was cancelled, or your provider did not allow it.',
  expired: 'The sign-in took too long, or was started in another tab or under another address. Sign in again.',
  provider:
    'Your provider is unavailable, or did not answer as it should. Try again in a moment; the log of Tagwarden has the reason.',
  setup:
    'Your provider refuses what Tagwarden asks for, and will until its setup is fixed. Ask the person who set up Tagwarden: its log has the reason.',
  token:
    'Tagwarden cannot trust what your provider answered. Ask the person who set up Tagwarden: its log has the reason.',
  clock: 'The clocks of your provider and of Tagwarden differ too much. Ask the person who set up Tagwarden.',
  email: 'Your provider sends no verified e-mail address for you. Ask the person who manages it.',
  taken: 'Another account has your e-mail address. Ask an owner.',
  two_step:
    'An account with your e-mail address asks for a code, so your provider does not open it yet. Sign in with your password, turn the second step off, and sign in with your provider once.',
  no_role: 'You are signed in with your provider, but none of your groups has a role here. Ask an owner for one.',
  disabled: 'Your account is disabled. Ask an owner.',
  full: 'There is no room for another account. Ask an owner.',
  busy: 'Too many tries. Wait a minute and try again.',
  service: 'Tagwarden could not finish the sign-in. Try again in a moment; its log has the reason.',
}

/** The message for a problem's code; null for none or an unknown one. */
const problemInWords = (problem: string | undefined): string | null =>
  problem !== undefined && Object.hasOwn(PROBLEMS, problem) ? (PROBLEMS[problem] ?? null) : null

type Way = 'account' | 'key' | 'forgot'

/** Exchanges a key, or an e-mail address and password, for a session, then goes to the page that the user wanted. */
export function SignInPage() {
  // The tab's title and icon must not show the sites' health without a session, even if they did before.
  useTab('Sign in · Tagwarden', 'unknown')
  const next = useNext()
  const problemOfAddress = useProblem()
  const { data: session } = useQuery(sessionQuery)
  const { history } = useRouter()
  const isIn = session !== undefined && !mustSignIn(session)
  useEffect(() => {
    if (isIn) history.replace(next)
  }, [isIn, history, next])
  if (isIn || session === undefined) return null
  return (
    <main className={classes.page}>
      <SignInForms session={session} next={next} problem={problemOfAddress} />
    </main>
  )
}

interface SignInFormsProps {
  session: Session
  /** The path to which the identity provider returns; null opens it in a new tab, because this page has a form to keep. */
  next: string | null
  problem?: string | null
}

/** All available ways to sign in. */
export function SignInForms({ session, next, problem: problemBefore = null }: SignInFormsProps) {
  const [chosen, setChosen] = useState<Way | null>(null)
  const problem = problemBefore ?? problemInWords(session.proxy?.problem ?? undefined)
  const way = chosen ?? (session.accounts ? 'account' : 'key')
  return (
    <div className={classes.form}>
      <div className={classes.brand}>
        <Logo size={22} />
        Tagwarden
      </div>
      {problem !== null && (
        <p className={classes.problem} role="alert">
          {problem}
        </p>
      )}
      {session.single_sign_on !== null && way !== 'forgot' && (
        <>
          <Button
            component="a"
            href={`/api/oidc/sign-in?${new URLSearchParams({ return_to: next ?? '/' })}`}
            {...(next === null && { target: '_blank' })}
            size="md"
            fullWidth
          >
            Sign in with {session.single_sign_on}
          </Button>
          <Divider label="or" />
        </>
      )}
      {way === 'account' && <AccountForm onForgot={() => setChosen('forgot')} />}
      {way === 'key' && <KeyForm />}
      {way === 'forgot' && <ForgotForm onBack={() => setChosen('account')} />}
      {session.accounts && way !== 'forgot' && (
        <Button variant="subtle" size="sm" onClick={() => setChosen(way === 'key' ? 'account' : 'key')}>
          {way === 'key' ? 'Sign in with e-mail and password' : 'Sign in with a key'}
        </Button>
      )}
    </div>
  )
}

function AccountForm({ onForgot }: { onForgot: () => void }) {
  const signIn = useSignIn()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [asksForCode, setAsksForCode] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate({ email, password }, { onError: (error) => setAsksForCode(isAboutCode(error)) })
  }
  if (asksForCode) return <CodeForm email={email} password={password} onBack={() => setAsksForCode(false)} />
  return (
    <form className={classes.fields} onSubmit={submit}>
      <h1>Sign in</h1>
      <TextInput
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoFocus
        size="md"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        size="md"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={signIn.error === null ? undefined : explain(signIn.error, 'The address or the password is wrong.')}
      />
      <Button type="submit" size="md" fullWidth disabled={email === '' || password === ''} loading={signIn.isPending}>
        Sign in
      </Button>
      <Button variant="subtle" size="sm" onClick={onForgot}>
        Forgot your password?
      </Button>
    </form>
  )
}

/** The second step, after the password. */
function CodeForm({ email, password, onBack }: { email: string; password: string; onBack: () => void }) {
  const signIn = useSignIn()
  const [code, setCode] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate({ email, password, code: code.trim() })
  }
  return (
    <form className={classes.fields} onSubmit={submit}>
      <h1>Second step</h1>
      <p className={classes.text}>Type the code that your app shows for Tagwarden, or one of your recovery codes.</p>
      <TextInput
        label="Code"
        name="code"
        autoComplete="one-time-code"
        autoFocus
        size="md"
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        error={signIn.error === null ? undefined : explain(signIn.error, 'The code is wrong, or was already used.')}
      />
      <Button type="submit" size="md" fullWidth disabled={code.trim().length < 6} loading={signIn.isPending}>
        Sign in
      </Button>
      <Button variant="subtle" size="sm" onClick={onBack}>
        Back to the sign-in
      </Button>
    </form>
  )
}

function KeyForm() {
  const signIn = useSignIn()
  const [token, setToken] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate({ token })
  }
  return (
    <form className={classes.fields} onSubmit={submit}>
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
        error={
          signIn.error === null ? undefined : explain(signIn.error, 'This key is not known. Check for a missing part.')
        }
      />
      <Button type="submit" size="md" fullWidth disabled={token === ''} loading={signIn.isPending}>
        Sign in
      </Button>
    </form>
  )
}

/** The message of a failed sign-in with the identity provider, read once, because the address changes later. */
function useProblem(): string | null {
  const { problem } = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const [words] = useState(() => problemInWords(problem))
  return words
}

/** The path to go to afterwards, always on this origin. Read once, because the address changes later. */
function useNext(): string {
  const { next = '/' } = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const [path] = useState(() => pathOf(next))
  return path
}

function pathOf(next: string): string {
  const url = URL.parse(next, window.location.origin)
  const isOwn = url !== null && url.origin === window.location.origin && !url.pathname.startsWith('//')
  return isOwn ? `${url.pathname}${url.search}` : '/'
}

function explain(error: Error, whenWrong: string): string {
  if (error instanceof ApiError && error.code === 'unauthorized') return whenWrong
  if (error instanceof ApiError && error.code === 'rate_limited') {
    return `Too many tries. Wait ${error.retryAfter ?? 60} s and try again.`
  }
  return error instanceof UnreachableError ? 'Tagwarden cannot be reached' : error.message
}
