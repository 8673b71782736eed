import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { useSubscribe } from '../../api/status.ts'
import classes from './status.module.css'

/** E-mail about incidents, for anyone who asks for it and confirms. */
export function Subscribe({ token }: { token: string }) {
  const [email, setEmail] = useState('')
  const subscribe = useSubscribe(token)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    subscribe.mutate(email.trim())
  }
  if (subscribe.isSuccess) {
    return (
      <p className={classes.text} role="status">
        We sent an e-mail to {subscribe.data.email}: open its link to confirm.
      </p>
    )
  }
  return (
    <form className={classes.subscribe} onSubmit={submit} noValidate>
      <TextInput
        type="email"
        autoComplete="email"
        label="Get incidents by e-mail"
        placeholder="you@example.com"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={subscribe.error === null ? undefined : faultOf(subscribe.error)}
      />
      <Button type="submit" variant="default" loading={subscribe.isPending} disabled={email.trim() === ''}>
        Subscribe
      </Button>
    </form>
  )
}

function faultOf(error: Error): string {
  if (!(error instanceof ApiError)) return error.message
  if (error.fault('/email') !== undefined) return 'Enter an e-mail address'
  return error.code === 'rate_limited' ? 'Too many tries from here. Try again in an hour.' : error.message
}
