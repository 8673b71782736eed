import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { applyLink, type LinkOwner, readLink } from '../../api/accounts.ts'
import { ApiError } from '../../api/client.ts'
import { isAboutCode, useSignIn } from '../../api/session.ts'
import { Logo } from '../../ui/Logo.tsx'
import { useTab } from '../../ui/status/status.ts'
import classes from './sign-in.module.css'

/** The page of a one-time link: sets the password and signs in with it. */
export function WelcomePage() {
  useTab('Choose a password · Tagwarden', 'unknown')
  // Read it only once, because it is removed from the address on first use.
  const [secret] = useState(() => window.location.hash.slice(1))
  const { data, error } = useQuery({
    queryKey: ['password-link', secret],
    queryFn: () => readLink(secret),
    enabled: secret !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <main className={classes.page}>
      <div className={classes.form}>
        <div className={classes.brand}>
          <Logo size={22} />
          Tagwarden
        </div>
        {data !== undefined ? (
          <ChooseForm secret={secret} owner={data} />
        ) : secret === '' || error !== null ? (
          <Unusable error={error} />
        ) : (
          <p className={classes.text} role="status">
            Checking the link
          </p>
        )}
      </div>
    </main>
  )
}

function Unusable({ error }: { error: Error | null }) {
  const isGone = error === null || (error instanceof ApiError && error.status < 500)
  return (
    <>
      <h1>{isGone ? 'This link no longer works' : 'The link cannot be checked'}</h1>
      <p className={classes.text}>
        {isGone
          ? 'It works once and for a limited time. Sign in, or ask the person who invited you for another one.'
          : error.message}
      </p>
      <Button component={Link} to="/sign-in" size="md">
        Go to the sign-in
      </Button>
    </>
  )
}

function ChooseForm({ secret, owner: { email, name: given, is_invitation } }: { secret: string; owner: LinkOwner }) {
  const signIn = useSignIn()
  const [name, setName] = useState(given)
  const [password, setPassword] = useState('')
  const choose = useMutation({
    mutationFn: async () => {
      await applyLink({ secret, password, ...(is_invitation ? { name } : {}) })
      try {
        await signIn.mutateAsync({ email, password })
        return '/'
      } catch (thrown) {
        if (isAboutCode(thrown)) return '/sign-in'
        throw thrown
      }
    },
    // Load a new page in place of this one, so that the used link does not stay in the history.
    onSuccess: (next) => window.location.replace(next),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    choose.mutate()
  }
  const fault = (path: string) => (choose.error instanceof ApiError ? choose.error.fault(path) : undefined)
  const faults = { name: fault('/name'), password: fault('/password') }
  const rest = faults.name === undefined && faults.password === undefined ? choose.error?.message : undefined
  return (
    <form className={classes.fields} onSubmit={submit}>
      <h1>{is_invitation ? 'Welcome' : 'New password'}</h1>
      <p className={classes.text}>Choose a password for {email}.</p>
      {/* For password managers. */}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      {is_invitation && (
        <TextInput
          label="Your name"
          name="name"
          autoComplete="name"
          size="md"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults.name}
        />
      )}
      <PasswordInput
        label="Password"
        description="At least 12 characters. A sentence is easier to remember than random characters."
        name="password"
        minLength={12}
        required
        withAsterisk={false}
        autoComplete="new-password"
        autoFocus
        size="md"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={faults.password ?? rest}
      />
      <Button type="submit" size="md" fullWidth loading={choose.isPending}>
        {is_invitation ? 'Begin' : 'Save and sign in'}
      </Button>
    </form>
  )
}
