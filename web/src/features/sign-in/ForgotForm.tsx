import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { askForLink } from '../../api/accounts.ts'
import classes from './sign-in.module.css'

/** Requests a link that sets a new password. The answer is the same for every address, so it does not reveal accounts. */
export function ForgotForm({ onBack }: { onBack: () => void }) {
  const [email, setEmail] = useState('')
  const ask = useMutation({ mutationFn: askForLink })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask.mutate(email)
  }
  return (
    <form className={classes.fields} onSubmit={submit}>
      <h1>New password</h1>
      {ask.isSuccess ? (
        <p className={classes.text} role="status">
          If {email} has an account, a link is on its way. It works once, within an hour.
        </p>
      ) : (
        <>
          <TextInput
            label="E-mail"
            name="email"
            type="email"
            autoComplete="username"
            autoFocus
            size="md"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={ask.error?.message}
          />
          <Button type="submit" size="md" fullWidth disabled={email === ''} loading={ask.isPending}>
            Send a link
          </Button>
        </>
      )}
      <Button variant="subtle" size="sm" onClick={onBack}>
        Back to the sign-in
      </Button>
    </form>
  )
}
